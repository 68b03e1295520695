import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { DeployToken, DeployTokenRequest, IssuedDeployToken } from '../../../contract/auth.ts'
import { readJson } from '../ui/read-json.ts'
import { sendJson } from '../ui/send-json.ts'

const path = '/api/v1/deploy-tokens'

/** GET /api/v1/deploy-tokens, newest first; expired and revoked ones too. */
const deployTokensQuery = queryOptions<{ tokens: readonly DeployToken[] }>({
  queryKey: ['deploy-tokens'],
  queryFn: ({ signal }) => readJson(path, signal),
  refetchInterval: 60_000,
})

export const useDeployTokens = () => useQuery(deployTokensQuery)

/** For a question that names the last use. */
export function useReadTokensAgain(): () => void {
  const client = useQueryClient()
  return () => void client.invalidateQueries(deployTokensQuery)
}

function useTokenChange<Given, Answer>(mutationFn: (given: Given) => Promise<Answer>) {
  const client = useQueryClient()
  return useMutation<Answer, Error, Given>({
    mutationFn,
    gcTime: 0, // the answer may hold a token
    onSettled: () => client.invalidateQueries(deployTokensQuery),
  })
}

/** POST /api/v1/deploy-tokens. The answer holds the token, this once. */
export const useIssueToken = () =>
  useTokenChange((body: DeployTokenRequest) => sendJson<IssuedDeployToken>('POST', path, body))

/** DELETE /api/v1/deploy-tokens/<id>. */
export const useRevokeToken = () =>
  useTokenChange((id: string) => sendJson<DeployToken>('DELETE', `${path}/${encodeURIComponent(id)}`))
