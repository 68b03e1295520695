/** Year 9999; PostgreSQL and JavaScript both know the time. */
export const lastSecond = 253_402_300_799
/** What a value that is no such number breaks. */
export const unixSeconds = 'must be a number of Unix seconds'
/** How filters write a moment, from 0 to `lastSecond`; empty for none. */
export const momentPattern = /^(\d{1,20}(\.\d{1,20})?([eE][+-]?\d{1,2})?)?$/
