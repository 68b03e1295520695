type Issued = { readonly id: string; readonly token: string }

/** As docs/security.md does it. @param accessToken of a privileged user */
export async function issueDeployToken(address: string, accessToken: string, apps: readonly string[]): Promise<Issued> {
  const answer = await fetch(`${address}/api/v1/deploy-tokens`, {
    method: 'POST',
    headers: { 'oidc-authorization': `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apps, description: 'of the test', expires: Math.ceil(Date.now() / 1_000) + 3_600 }),
  })
  return (await answer.json()) as Issued
}
