import { fileURLToPath } from 'node:url'

/**
 * How Node is to be started for the service: it would else keep what it has freed, and the more so the larger the machine
 * (decision 0012). Where the service is started some other way, the same flags and the same variable belong there.
 */
export const nodeFlags = ['--memory-saver-mode', '--min-semi-space-size=8', '--max-semi-space-size=8']

/** Each thread of Node would otherwise get a store of freed memory of its own. */
export const nodeEnvironment = { MALLOC_ARENA_MAX: '2' }

/** For NODE_COMPILE_CACHE: what one start has compiled serves the next; it is half of the processor time of a start. */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url))
