type Schemas = Record<string, unknown>
type Document = { readonly components?: { readonly schemas?: object | undefined } | undefined }

const reference = /"#\/components\/schemas\/([^"]+)"/g

/**
 * Tidies the named schemas of an API document. The generator writes each one twice, as `X` and as `XInput`, and refuses
 * unknown fields in answers; we keep one where both say the same, only those that something refers to, and let clients
 * expect fields to come (decision 0010).
 */
export function dropInputTwins<D extends object>(document: D): D {
  const open: Document = JSON.parse(JSON.stringify(document), (key, value) =>
    isClosing(key, value) ? undefined : value,
  )
  const schemas: Schemas = { ...open.components?.schemas }
  const merged: D & Document = JSON.parse(renameReferences(JSON.stringify(open), equalTwins(schemas)))
  const kept = reachable(merged)
  return { ...merged, components: { ...merged.components, schemas: kept } }
}

function isClosing(key: string, value: unknown): boolean {
  return key === 'additionalProperties' && value === false
}

/** Twins that are equal when each refers to equal twins: assumes all are, and takes out those that differ, until none does. */
function equalTwins(schemas: Schemas): ReadonlySet<string> {
  let equal = new Set(Object.keys(schemas).filter((name) => Object.hasOwn(schemas, `${name}Input`)))
  for (;;) {
    const textOf = (name: string) => renameReferences(JSON.stringify(schemas[name]), equal)
    const still = new Set([...equal].filter((name) => textOf(name) === textOf(`${name}Input`)))
    if (still.size === equal.size) return equal
    equal = still
  }
}

function renameReferences(text: string, equal: ReadonlySet<string>): string {
  return text.replace(reference, (whole, name: string) => {
    const plain = name.replace(/Input$/, '')
    return name !== plain && equal.has(plain) ? `"#/components/schemas/${plain}"` : whole
  })
}

function reachable({ components, ...rest }: Document): Schemas {
  const schemas: Schemas = { ...components?.schemas }
  const found = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(reference)) {
      if (found.has(name) || !Object.hasOwn(schemas, name)) continue
      found.add(name)
      follow(schemas[name])
    }
  }
  follow(rest)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)))
}
