/** The variables that n8n and Node need from their user, on any system. */
const NEEDED =
	/^(?:PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|TMPDIR|TEMP|TMP|SYSTEMROOT|COMSPEC|LANG|LC_.+|TZ|LD_LIBRARY_PATH|NODE_COMPILE_CACHE)$/i;

/** A user's environment without secrets, proxies and what configures another n8n. */
export const neededVariables = (variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
	Object.fromEntries(Object.entries(variables).filter(([name]) => NEEDED.test(name)));
