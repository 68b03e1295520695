/** An address without user and password, also where it has no scheme, as a registry proxy's. */
export const withoutUserinfo = (address: string): string => address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, '$1')
