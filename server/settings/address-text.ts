/** Whether a host, as an address spells it or bare, is this machine. */
export const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** An address without user and password, also where it has no scheme, as a registry proxy's. */
export const withoutUserinfo = (address: string): string => address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, '$1')
