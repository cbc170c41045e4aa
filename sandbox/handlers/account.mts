import type { Handler } from '../api/request.mts';
import { requireTableToken } from '../access/rights.mts';

/** GET /ping: any type of token. */
export const ping: Handler = () => ({ status: 200, body: { data: { message: 'pong' } } });

/** GET /users/me. */
export const getCurrentUser: Handler = ({ token, user }) => {
	requireTableToken(token);
	return { status: 200, body: { data: { id: user.id, email: user.email } } };
};
