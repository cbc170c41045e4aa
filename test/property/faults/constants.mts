/** Names that the pieces of the fault tests share. */

/** Where every schedule's table is. */
export const APP = 'shop';
export const TABLE = 'things';

/** The ID of a record with this number. */
export const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** The name of the other writer's token. */
export const OTHER_WRITER = 'other-writer';

/** The value that rules on the platform's side refuse, in the field `name`. */
export const POISON = 'poison';
