import { innermostErrors, nameKinds, plainWords } from './plain-words.ts'

/** Why a container could not be created or started, in a few words. */
export function describeContainerFailure(message: string): string {
  const text = nameKinds(plainWords(message))
  const [, key, kind, owner] = /couldn't find key (\S+) in (ConfigMap|Secret) \S*?([^/\s]+)$/.exec(text) ?? []
  if (key !== undefined) return `${kind} ${owner} has no key ${key}`
  if (/runAsNonRoot/.test(text)) return 'it must not run as root, but its image does'
  const command = /exec: "([^"]+)": (.*?)(?:: unknown)?$/.exec(text)
  if (command !== null) return `${command[1]}: ${innermostErrors(command[2] ?? '', 40)}`
  return innermostErrors(text.replace(/: unknown$/, ''), 75)
}
