/** JSON as PostgreSQL stores it: it knows no NUL and no half characters. */
export const toStoredJson = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'string' ? one.replaceAll('\0', '').toWellFormed() : one))
