import { mintJwt } from '../support/mint-jwt.ts'

const claims = { sub: 'ci', exp: 4_000_000_000 }
const base64url = (text: string) => Buffer.from(text).toString('base64url')

/** Tokens that a service with that secret must not take, however near to a good one; none of them is too old. */
export function forgedJwts(jwtSecret: string): string[] {
  const good = mintJwt(claims, jwtSecret)
  const [header = '', payload = '', signature = ''] = good.split('.')
  const algorithms = [
    'none',
    'None',
    'NONE',
    'nOnE',
    'RS256',
    'RS512',
    'PS256',
    'ES256',
    'ES512',
    'EdDSA',
    'HS1',
    'HS224',
  ]
  const odd = ['hs256', 'HS256 ', ' HS256', 'HS256\0', 'dir', 'A128KW', 'PBES2-HS256+A128KW', '', 'RSA-OAEP', 'HMAC']
  const extra = [
    { jwk: { kty: 'oct', k: '' } },
    { jku: 'http://127.0.0.1/' },
    { x5u: 'http://127.0.0.1/' },
    { x5c: ['x'] },
  ]
  const more = [{ crit: ['exp'] }, { b64: false, crit: ['b64'] }, { zip: 'DEF' }]
  const kids = ['../../etc/passwd', "' OR 1=1", '/dev/null', 'http://127.0.0.1/key']
  const otherHeaders = [
    ...[...algorithms, ...odd].flatMap((alg) => [{ alg }, { alg, typ: 'JWT' }, { alg, kid: kids[0] }]),
    ...[null, 256, true, ['HS256'], { alg: 'HS256' }].map((alg) => ({ alg })),
    ...[...extra, ...more].map((one) => ({ alg: 'HS256', ...one })),
    {},
  ]
  const signedOtherwise = [
    '',
    ' ',
    'deploy-token-of-the-tests',
    jwtSecret.slice(1),
    `${jwtSecret}\n`,
    jwtSecret.toUpperCase(),
  ]
  const forms = [
    ...[
      `${header}.${payload}`,
      `${header}.${payload}.`,
      `${good}.${signature}`,
      `${good}.x.y`,
      `..${signature}`,
      '..',
      '.',
    ],
    ...[
      `${header}..${signature}`,
      `.${payload}.${signature}`,
      `${header} .${payload}.${signature}`,
      `${good}=`,
      `${good}==`,
    ],
    ...[
      `${header}=.${payload}.${signature}`,
      good.toUpperCase(),
      `${good.slice(0, -2)}AA`,
      signature,
      `${header}.${header}.${signature}`,
    ],
    ...[JSON.stringify({ payload, protected: header, signature }), `"${good}"`, `${good},${good}`, `Bearer ${good}`],
    ...[
      `${base64url('{"alg":"HS256","alg":"none"}')}.${payload}.${signature}`,
      `${base64url('[]')}.${payload}.${signature}`,
    ],
    ...[
      `${base64url('null')}.${payload}.${signature}`,
      `${base64url('\xff')}.${payload}.${signature}`,
      `${good.slice(0, 40)}`,
    ],
  ]
  return [
    ...otherHeaders.map((one) => mintJwt(claims, jwtSecret, one)),
    ...signedOtherwise.map((secret) => mintJwt(claims, secret)),
    mintJwt(claims, Buffer.from(jwtSecret, 'base64').toString('latin1')),
    ...forms,
  ]
}
