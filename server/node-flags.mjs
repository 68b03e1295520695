/**
 * How Node is to be started for the service: it keeps what it has freed for longer than a service of many small objects
 * needs, and the more so the larger the machine (decision 0012). Where the service is started some other way, the same
 * flags and the same variable belong there.
 */
export const nodeFlags = ['--max-semi-space-size=8', '--heap-growing-percent=30']

/** Each thread of Node would otherwise get a store of freed memory of its own. */
export const nodeEnvironment = { MALLOC_ARENA_MAX: '2' }
