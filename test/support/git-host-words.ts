import type { GitFailure } from '../../server/write-back/git/access/git-error.ts'

/**
 * What Git hosts truly say where a write-back cannot succeed; the tests of git-error.ts and of the write-back go by it.
 * Not found anywhere, so retried with the words shown: what Bitbucket Data Center says of an archived repository, and
 * Azure DevOps of a disabled one.
 */
export type HostWords = {
  readonly host:
    | 'GitHub'
    | 'GitLab'
    | 'Bitbucket Cloud'
    | 'Bitbucket Data Center'
    | 'Gitea and Forgejo'
    | 'Azure DevOps'
    | 'git'
  readonly situation: string
  /** `push`: reading works, as with the usual deploy key; `report`: the answer to a push that arrived. */
  readonly when: 'any command' | 'push' | 'report'
  readonly over: 'ssh' | 'https'
  readonly says: string
  readonly means: GitFailure | 'rule'
  /** Where the words were seen; undefined: from memory, without a source. */
  readonly source: string | undefined
}

/** What git itself adds where the connection ended before the host named a branch. */
const endedAtOnce =
  'fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.'
const framed = (text: string) =>
  `remote: \nremote: ${'='.repeat(72)}\nremote: \nremote: ${text}\nremote: \n${endedAtOnce}`
const https403 = (text: string) =>
  `remote: ${text}\nfatal: unable to access 'https://git.example/a/b.git/': The requested URL returned error: 403`
const rejected = (text: string, why: string) => `remote: ${text}\n ! [remote rejected] main -> main (${why})`

const gitea = 'https://github.com/go-gitea/gitea/blob/main/routers/private/serv.go'
const gitlab = 'https://gitlab.com/gitlab-org/gitlab/-/blob/master/lib/gitlab/git_access.rb'
const azureSsh = 'https://learn.microsoft.com/en-us/azure/devops/repos/git/use-ssh-keys-to-authenticate'

export const hostWords: readonly HostWords[] = [
  // a key or token that the host does not know
  ssh('GitHub', 'key unknown', `git@github.com: Permission denied (publickey).\n${endedAtOnce}`, 'access_denied', {
    source: 'https://github.com/python/mypy/issues/18050',
  }),
  ssh('Bitbucket Cloud', 'key unknown', `Permission denied (publickey).\n${endedAtOnce}`, 'access_denied', {
    source: 'https://confluence.atlassian.com/bbkb/permission-denied-publickey-302811860.html',
  }),
  ssh('Azure DevOps', 'key unknown', `remote: Public key authentication failed.\n${endedAtOnce}`, 'access_denied', {
    source: azureSsh,
  }),
  https('git', 'token unknown', "fatal: Authentication failed for 'https://git.example/a/b.git/'", 'access_denied', {
    source: 'git 2.39.5 against a server that answers 401',
  }),

  // a key or token without the right to push: the usual deploy key
  push('GitHub', `ERROR: The key you are authenticating with has been marked as read only.\n${endedAtOnce}`, {
    source: 'https://github.com/haskell-jp/blog/issues/221',
  }),
  push('GitHub', `ERROR: Permission to a/b.git denied to deploy key\n${endedAtOnce}`, {
    source: 'https://github.com/orgs/community/discussions/122833',
  }),
  push('GitHub', `ERROR: Write access to repository not granted.\n${endedAtOnce}`, {
    source: 'https://github.com/aai-institute/practical-ai-act/issues/11',
  }),
  https('GitHub', 'no right to push', https403('Write access to repository not granted.'), 'access_denied', {
    source: 'https://github.com/QIN2DIM/epic-awesome-gamer/issues/255',
  }),
  https('GitHub', 'no right to push', https403('Permission to a/b.git denied to c.'), 'access_denied', {
    source: 'https://github.com/zero-to-mastery/ZtM-Job-Board/issues/2531',
  }),
  push('GitLab', framed('This deploy key does not have write access to this project.'), { source: gitlab }),
  push('GitLab', framed('ERROR: You are not allowed to push code to this project.'), { source: gitlab }),
  https('GitLab', 'no right to push', https403('You are not allowed to push code to this project.'), 'access_denied', {
    source: gitlab,
  }),
  push('Bitbucket Cloud', `repository access denied. access via a deployment key is read-only.\n${endedAtOnce}`, {
    source: 'https://bitbucket.org/site/master/issues/9759/shell-access-is-disabled',
  }),
  push('Bitbucket Data Center', `You are not permitted to push to this repository\n${endedAtOnce}`, {}),
  https('Bitbucket Data Center', 'no right to push', https403('Forbidden'), 'access_denied', {
    source:
      'https://support.atlassian.com/bitbucket-data-center/kb/git-push-returns-error-code-403-in-bitbucket-server-data-center/',
  }),
  push('Gitea and Forgejo', `Gitea: Deploy Key: 7:ci is not authorized to write to a/b.\n${endedAtOnce}`, {
    source: gitea,
  }),
  push('Gitea and Forgejo', `Forgejo: User: 2:bob with Key: 3:ci is not authorized to write to a/b.\n${endedAtOnce}`, {
    source: gitea,
  }),
  report('Gitea and Forgejo', rejected('Gitea: User permission denied for writing.', 'pre-receive hook declined'), {
    situation: 'no right to push',
    means: 'access_denied',
    source: 'https://github.com/go-gitea/gitea/issues/31525',
  }),
  report(
    'Azure DevOps',
    rejected(
      '',
      "TF401027: You need the Git 'GenericContribute' permission to perform this action. Details: identity 'a', scope 'repository'.",
    ),
    {
      situation: 'no right to push',
      means: 'access_denied',
      source:
        'https://tarikbilla.com/azure-pipeline-doest-allow-to-git-push-throwing-genericcontribute-permission-is-needed/',
    },
  ),

  // no repository there, or none that this key may see
  ssh('GitHub', 'repository missing', `ERROR: Repository not found.\n${endedAtOnce}`, 'repository_missing', {
    source: 'https://github.com/juice-ryang/online-judge/issues/24',
  }),
  https(
    'git',
    'repository missing',
    "remote: Not Found\nfatal: repository 'https://git.example/a/b.git/' not found",
    'repository_missing',
    {
      source: 'git 2.39.5 against a server that answers 404',
    },
  ),
  ssh(
    'GitLab',
    'repository missing',
    framed("ERROR: The project you were looking for could not be found or you don't have permission to view it."),
    'repository_missing',
    {
      source: gitlab,
    },
  ),
  https(
    'Bitbucket Cloud',
    'repository missing',
    https403(
      "The requested repository either does not exist or you do not have access. If you believe this repository exists and you have access, make sure you're authenticated.",
    ),
    'repository_missing',
    {
      source: 'https://confluence.atlassian.com/bbkb/error-403-when-performing-git-operations-1155479141.html',
    },
  ),
  ssh(
    'Bitbucket Data Center',
    'repository missing',
    `Repository not found\nThe requested repository does not exist, or you do not have permission to access it.\n${endedAtOnce}`,
    'repository_missing',
    {},
  ),
  ssh(
    'Gitea and Forgejo',
    'repository missing',
    `Gitea: Cannot find repository: a/b\n${endedAtOnce}`,
    'repository_missing',
    {
      source: gitea,
    },
  ),
  ssh(
    'Azure DevOps',
    'repository missing',
    `remote: TF401019: The Git repository with name or identifier b does not exist or you do not have permissions for the operation you are attempting.\n${endedAtOnce}`,
    'repository_missing',
    {
      source: azureSsh,
    },
  ),
  ssh(
    'git',
    'repository missing',
    `fatal: 'a/b.git' does not appear to be a git repository\n${endedAtOnce}`,
    'repository_missing',
    {
      source: 'git 2.39.5',
    },
  ),

  // archived, and still readable
  push('GitHub', `ERROR: This repository was archived so it is read-only.\n${endedAtOnce}`, {
    situation: 'archived',
    means: 'repository_archived',
    source: 'https://github.com/nextcloud/docker-ci/pull/859',
  }),
  https('GitHub', 'archived', https403('This repository was archived so it is read-only.'), 'repository_archived', {}),
  push('GitLab', framed("ERROR: You can't push code to an archived project."), {
    situation: 'archived',
    means: 'repository_archived',
    source: gitlab,
  }),
  push('Gitea and Forgejo', `Gitea: Repo: a/b is archived.\n${endedAtOnce}`, {
    situation: 'archived',
    means: 'repository_archived',
    source: gitea,
  }),
  push('Gitea and Forgejo', `Gitea: Mirror Repository a/b is read-only\n${endedAtOnce}`, {
    situation: 'mirror',
    means: 'repository_archived',
    source: gitea,
  }),

  // moved; over SSH hosts redirect by themselves and only say so
  https(
    'git',
    'moved',
    "fatal: unable to access 'https://git.example/a/b.git/': The requested URL returned error: 301",
    'repository_moved',
    {
      source: 'git 2.39.5 with http.followRedirects=false against a server that answers 301',
    },
  ),
  ssh(
    'GitLab',
    'moved',
    `${framed("Project 'a/b' was moved to 'c/b'.\nremote: \nremote: Please update your Git remote:")}`,
    'repository_moved',
    {
      source: 'https://gitlab.com/gitlab-org/gitlab-foss/-/issues/35385',
    },
  ),

  // protected branches
  report(
    'GitHub',
    rejected(
      'error: GH006: Protected branch update failed for refs/heads/main.\nremote: - Changes must be made through a pull request.',
      'protected branch hook declined',
    ),
    {
      source: 'https://github.com/foundry-rs/block-explorers/pull/110',
    },
  ),
  report(
    'GitHub',
    rejected(
      'error: GH013: Repository rule violations found for refs/heads/main.',
      'push declined due to repository rule violations',
    ),
    {
      source: 'https://github.com/yshavit/mdq/pull/255',
    },
  ),
  report(
    'GitLab',
    rejected(
      'GitLab: You are not allowed to push code to protected branches on this project.',
      'pre-receive hook declined',
    ),
    {
      source: gitlab,
    },
  ),
  report('Bitbucket Cloud', rejected('Permission denied to update branch main.', 'pre-receive hook declined'), {}),
  report(
    'Bitbucket Data Center',
    rejected('Branch refs/heads/main can only be modified through pull requests.', 'pre-receive hook declined'),
    {},
  ),
  report(
    'Gitea and Forgejo',
    rejected('Gitea: Not allowed to push to protected branch main', 'pre-receive hook declined'),
    {
      source: 'https://github.com/go-gitea/gitea/blob/main/routers/private/hook_pre_receive.go',
    },
  ),
  report(
    'Azure DevOps',
    rejected(
      '',
      'TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.',
    ),
    {
      source: 'https://deverrors.com/errors/azure-devops-push-denied',
    },
  ),

  // what git and ssh say of any host
  ssh('git', 'object names of SHA-256', 'fatal: mismatched algorithms: client sha1; server sha256', 'object_format', {
    source: 'git 2.39.5; https://github.com/jenkinsci/git-client-plugin/pull/1708',
  }),
  ssh(
    'git',
    'object names of SHA-256',
    "fatal: Server does not support this repository's object format",
    'object_format',
    {
      source: 'git 2.39.5 with protocol version 0',
    },
  ),
  https(
    'git',
    'certificate unknown',
    "fatal: unable to access 'https://git.example/a/b.git/': server certificate verification failed. CAfile: none CRLfile: none",
    'certificate',
    {
      source: 'git 2.39.5 with GnuTLS',
    },
  ),
  https(
    'git',
    'certificate unknown',
    "fatal: unable to access 'https://git.example/a/b.git/': SSL certificate problem: unable to get local issuer certificate",
    'certificate',
    {
      source: 'https://dors.huayemao.run/posts/265',
    },
  ),

  // passes by itself
  ssh(
    'GitLab',
    'read-only for now',
    framed('ERROR: The repository is temporarily read-only. Please try again later.'),
    'unreachable',
    {
      source: gitlab,
    },
  ),
  https(
    'git',
    'too many requests',
    "fatal: unable to access 'https://git.example/a/b.git/': The requested URL returned error: 429",
    'unreachable',
    {
      source: 'git 2.39.5 against a server that answers 429',
    },
  ),
  https(
    'git',
    'overloaded',
    "fatal: unable to access 'https://git.example/a/b.git/': The requested URL returned error: 503",
    'unreachable',
    {
      source: 'git 2.39.5 against a server that answers 503',
    },
  ),
]

type Rest = { readonly source?: string; readonly situation?: string; readonly means?: HostWords['means'] }

function ssh(host: HostWords['host'], situation: string, says: string, means: HostWords['means'], { source }: Rest) {
  return { host, situation, when: 'any command', over: 'ssh', says, means, source } as const
}

function https(host: HostWords['host'], situation: string, says: string, means: HostWords['means'], { source }: Rest) {
  return { host, situation, when: 'any command', over: 'https', says, means, source } as const
}

function push(
  host: HostWords['host'],
  says: string,
  { source, situation = 'no right to push', means = 'access_denied' }: Rest,
) {
  return { host, situation, when: 'push', over: 'ssh', says, means, source } as const
}

function report(
  host: HostWords['host'],
  says: string,
  { source, situation = 'protected branch', means = 'rule' }: Rest,
) {
  return { host, situation, when: 'report', over: 'ssh', says, means, source } as const
}
