/** Names that the pieces of the fault tests share. */

/** Where every schedule's table is. */
export const APP = 'shop';
export const TABLE = 'things';

/** The value that rules on the platform's side refuse, in the field `name`. */
export const POISON = 'poison';
