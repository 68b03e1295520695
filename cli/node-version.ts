import manifest from './package.json' with { type: 'json' }

/** Why this version of Node cannot run the client; undefined where it can. */
export function refuseNode(version: string): string | undefined {
  const oldest = manifest.engines.node.replace('>=', '')
  if (version.localeCompare(oldest, 'en', { numeric: true }) >= 0) return undefined
  return `needs Node ${oldest} or newer; this is ${version}`
}
