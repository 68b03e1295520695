/** Application names that may become metric labels: so many, then `other`, because each is kept for ever. */
export function createAppLabels(most = 2_000): (app: string) => string {
  const known = new Set<string>()
  return (app) => {
    if (known.size < most) known.add(app)
    return known.has(app) ? app : 'other'
  }
}
