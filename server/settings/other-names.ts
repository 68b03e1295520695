type Texts = Readonly<Record<string, string>>

const isGiven = (value = '') => value.trim() !== ''

/** Settings whose silent absence would be dangerous or that mean another program: the start is rejected. */
const rejectedSettings: Readonly<Record<string, string>> = {
  STATE_TYPE: 'only postgres is supported: remove it and set DATABASE_URL',
  KEYCLOAK_ENABLED: 'is now IDP_ENABLED',
  KEYCLOAK_URL: 'is now IDP_ISSUER_URL, in the form <url>/realms/<realm>',
  KEYCLOAK_REALM: 'is now a part of IDP_ISSUER_URL, in the form <url>/realms/<realm>',
  KEYCLOAK_CLIENT_ID: 'is now IDP_CLIENT_ID',
  KEYCLOAK_CLIENT_SECRET: 'is now IDP_CLIENT_SECRET',
  KEYCLOAK_PRIVILEGED_GROUPS: 'is now IDP_PRIVILEGED_GROUPS',
  KEYCLOAK_TOKEN_VALIDATION_INTERVAL: 'is no longer needed: remove it',
}

/** Settings that change nothing here, with what a person should know. */
const settingsWithoutEffect: Readonly<Record<string, string>> = {
  OIDC_TOKEN_VALIDATION_INTERVAL:
    'has no effect: a signed-in user is looked up again before a change, after 60 s at most',
  GIT_MAX_ATTEMPTS: 'has no effect: a write-back is tried until the deadline of its task',
  GIT_BATCH_WRITEBACK: 'has no effect: write-backs of one repository always share a push',
  GIT_BATCH_MAX_SIZE: 'has no effect: write-backs of one repository always share a push',
  STATIC_FILES_PATH: 'has no effect: the web UI is part of the service',
  DEV_ENVIRONMENT: 'has no effect',
}

/** Names that are recognised and have no value here. */
export const otherNames: readonly string[] = [...Object.keys(rejectedSettings), ...Object.keys(settingsWithoutEffect)]

export const refusalsOf = (texts: Texts): string[] =>
  Object.entries(rejectedSettings)
    .filter(([name]) => isGiven(texts[name]) && !(name === 'STATE_TYPE' && texts[name] === 'postgres'))
    .map(([name, wayOut]) => `${name}: ${wayOut}`)

export const notesOf = (texts: Texts): string[] =>
  Object.entries(settingsWithoutEffect)
    .filter(([name]) => isGiven(texts[name]))
    .map(([name, note]) => `${name} ${note}`)
