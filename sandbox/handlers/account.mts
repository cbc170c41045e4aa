import type { Handler } from '../api/request.mts';
import { demandTableToken } from '../access/rights.mts';

/** GET /ping, for every kind of token. */
export const ping: Handler = () => ({ status: 200, body: { data: { message: 'pong' } } });

/** GET /users/me. */
export const getCurrentUser: Handler = ({ token, user }) => {
	demandTableToken(token);
	return { status: 200, body: { data: { id: user.id, email: user.email } } };
};
