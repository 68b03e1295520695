type Texts = Readonly<Record<string, string>>
type Projection = { readonly name: string; readonly items: readonly { readonly key: string; readonly path: string }[] }
type Source = { readonly secret?: Projection; readonly configMap?: Projection }

/** Of a Pod, or of what has a template of Pods. */
type Spec = {
  readonly template?: { readonly metadata: { readonly labels: Texts }; readonly spec: Spec }
  readonly containers?: readonly { readonly env: readonly { readonly name: string; readonly value: string }[] }[]
  readonly volumes?: readonly { readonly projected?: { readonly sources: readonly Source[] } }[]
}

/** What is read of an object of Kubernetes. */
export type StoredObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Texts }
  readonly type?: string
  readonly data?: Texts
  readonly spec?: Spec
}

/**
 * Reads an object that kubectl or helm posted, in JSON or in protobuf. Newer ones send Namespaces and Secrets in
 * protobuf, which cannot be switched off, so those are the kinds whose fields are known here.
 * Source: generated.proto of k8s.io/api/core/v1 and of k8s.io/apimachinery/pkg/runtime (Unknown)
 */
export function decodeObject(body: Buffer): StoredObject {
  if (body.toString('latin1', 0, 4) !== 'k8s\0') return JSON.parse(body.toString())
  const envelope = body.subarray(4)
  const [type, object] = [field(envelope, 1), field(envelope, 2)]
  const [apiVersion, kind] = [field(type, 1).toString(), field(type, 2).toString()]
  const metadata = field(object, 1)
  return {
    apiVersion,
    kind,
    metadata: { name: field(metadata, 1).toString(), labels: mapOf(metadata, 11, 'utf8') },
    ...(kind === 'Secret' && { data: mapOf(object, 2, 'base64'), type: field(object, 3).toString() }),
  }
}

const field = (message: Buffer, number: number) => Buffer.concat(fieldsOf(message, number))

const mapOf = (message: Buffer, number: number, encoding: BufferEncoding) =>
  Object.fromEntries(
    fieldsOf(message, number).map((entry) => [field(entry, 1).toString(), field(entry, 2).toString(encoding)]),
  )

function fieldsOf(message: Buffer, number: number): readonly Buffer[] {
  const found: Buffer[] = []
  let at = 0
  while (at < message.length) {
    const tag = nextVarint()
    const lengthOrValue = nextVarint()
    if (tag % 8 !== 2) continue // it was a number; other widths do not occur here
    if (tag >> 3 === number) found.push(message.subarray(at, at + lengthOrValue))
    at += lengthOrValue
  }
  return found

  function nextVarint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0
      value += (byte % 128) * factor
      if (byte < 128) return value
    }
  }
}
