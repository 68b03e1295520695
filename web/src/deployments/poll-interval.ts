/** How long until the next look: 2 s while answers come, 5 s while they do not. */
export const pollEveryMs = (status: 'pending' | 'error' | 'success'): number => (status === 'error' ? 5_000 : 2_000)
