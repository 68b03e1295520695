/** Between single quotes a shell reads everything as it is, but for the quote itself. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
