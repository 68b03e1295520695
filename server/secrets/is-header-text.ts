/** Whether a text can be sent as the value of an HTTP header: one line of printable characters of one byte each. */
export const isHeaderText = (text: string): boolean => /^[ -~\u00a0-\u00ff]*$/.test(text)
