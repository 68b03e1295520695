type Texts = Readonly<Record<string, string>>

const isOn = (value: string) => /^(true|t|1)$/i.test(value.trim())
const isGiven = (value: string) => value.trim() !== ''

/** Settings whose silent absence would be dangerous or that mean another program: the start is refused. */
const refusedSettings: Readonly<Record<string, { when: (value: string) => boolean; wayOut: string }>> = {
  STATE_TYPE: {
    when: (value) => isGiven(value) && value !== 'postgres',
    wayOut: 'only postgres is supported: remove it and set DATABASE_URL',
  },
  KEYCLOAK_ENABLED: { when: isGiven, wayOut: 'is now IDP_ENABLED' },
  KEYCLOAK_URL: { when: isGiven, wayOut: 'is now IDP_ISSUER_URL, in the form <url>/realms/<realm>' },
  KEYCLOAK_REALM: { when: isGiven, wayOut: 'is now a part of IDP_ISSUER_URL, in the form <url>/realms/<realm>' },
  KEYCLOAK_CLIENT_ID: { when: isGiven, wayOut: 'is now IDP_CLIENT_ID' },
  KEYCLOAK_CLIENT_SECRET: { when: isGiven, wayOut: 'is now IDP_CLIENT_SECRET' },
  KEYCLOAK_PRIVILEGED_GROUPS: { when: isGiven, wayOut: 'is now IDP_PRIVILEGED_GROUPS' },
  KEYCLOAK_TOKEN_VALIDATION_INTERVAL: { when: isGiven, wayOut: 'has no replacement and needs none: remove it' },
}

/** Settings that change nothing here, with what a person should know. */
const settingsWithoutEffect: Readonly<Record<string, { when: (value: string) => boolean; note: string }>> = {
  OIDC_TOKEN_VALIDATION_INTERVAL: {
    when: isGiven,
    note: 'without effect: a signed-in user is looked up again before a change, after 60 s at most',
  },
  GIT_MAX_ATTEMPTS: { when: isGiven, note: 'without effect: a write-back is tried until the deadline of its task' },
  GIT_BATCH_WRITEBACK: { when: isGiven, note: 'without effect: write-backs of one repository always share a push' },
  GIT_BATCH_MAX_SIZE: { when: isGiven, note: 'without effect: write-backs of one repository always share a push' },
  STATIC_FILES_PATH: { when: isGiven, note: 'without effect: the web UI is part of the service' },
  DEV_ENVIRONMENT: { when: isGiven, note: 'without effect' },
}

/** Each switches on a way of telling others that a task changed. */
const notificationSwitches = ['WEBHOOK_ENABLED', 'MATTERMOST_ENABLED']

/** Names that are recognised and have no value here. */
export const otherNames: readonly string[] = [
  ...Object.keys(refusedSettings),
  ...Object.keys(settingsWithoutEffect),
  ...notificationSwitches,
]

export function refusalsOf(texts: Texts): string[] {
  return Object.entries(refusedSettings)
    .filter(([name, { when }]) => when(texts[name] ?? ''))
    .map(([name, { wayOut }]) => `${name}: ${wayOut}`)
}

export function notesOf(texts: Texts): string[] {
  const notes = Object.entries(settingsWithoutEffect)
    .filter(([name, { when }]) => when(texts[name] ?? ''))
    .map(([name, { note }]) => `${name} is ${note}`)
  const switchedOn = notificationSwitches.filter((name) => isOn(texts[name] ?? ''))
  return switchedOn.length === 0 ? notes : [...notes, `${switchedOn.join(', ')}: notifications are not built yet`]
}
