/** Why nothing was started, in one line for the person at the terminal. */
export class LaunchError extends Error {
  /** @override */
  name = 'LaunchError'

  /**
   * @param {string} message
   * @param {{ exitCode: number, cause?: unknown }} options 78: something must be installed or set; 1: it did not work
   */
  constructor(message, { exitCode, cause }) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

/** sysexits' EX_CONFIG: trying again without a change is useless. */
export const wrongSetup = 78
