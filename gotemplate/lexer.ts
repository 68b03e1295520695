import { decodeLastRune, decodeRune, encodeRune, type GoString, runesOf } from './bytes.ts'
import { quote } from './quote.ts'
import { isAlphaNumeric, isPrint } from './unicode.ts'

const keywords = [
  '.',
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'nil',
  'template',
  'with',
] as const
type Keyword = (typeof keywords)[number]

export type TokenType =
  | Keyword
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'leftDelimiter'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelimiter'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'

export type Token = {
  readonly type: TokenType
  /** In bytes from the start of the template. */
  readonly position: number
  /** Of an error: its text. */
  readonly value: GoString
  readonly line: number
}

/** A token as Go's parser names it in its errors. */
export function describeToken({ type, value }: Token): GoString {
  if (type === 'eof') return 'EOF'
  if (type === 'error') return value
  if ((keywords as readonly string[]).includes(type)) return `<${value}>`
  return value.length > 10 ? `${quote(firstRunes(value, 10))}...` : quote(value)
}

function firstRunes(value: GoString, count: number): GoString {
  let left = count
  for (const { at } of runesOf(value)) if (left-- === 0) return value.slice(0, at)
  return value
}

const endOfInput = -1
const isSpace = (code: number) => code === 0x20 || code === 9 || code === 13 || code === 10
const beginsWithTrimMarker = (text: GoString) => text.startsWith('-') && isSpace(text.charCodeAt(1))
const endsWithTrimMarker = (text: GoString) => isSpace(text.charCodeAt(0)) && text.charAt(1) === '-'
const countLines = (text: GoString) => text.split('\n').length - 1
/** The marker and the space beside it. */
const trimMarkerLength = 2

type State = () => Token | State

/** Go's lexer of templates, a token at a time: as there, an error ends its input. */
export class Lexer {
  #input: GoString
  #position = 0
  #start = 0
  #line = 1
  #startLine = 1
  #parenDepth = 0
  #isAtEnd = false
  #isInsideAction = false

  constructor(input: GoString) {
    this.#input = input
  }

  nextToken(): Token {
    let state: Token | State = this.#isInsideAction ? this.#insideAction : this.#text
    while (typeof state === 'function') state = state()
    return state
  }

  #next(): number {
    if (this.#position >= this.#input.length) {
      this.#isAtEnd = true
      return endOfInput
    }
    const { code, size } = decodeRune(this.#input, this.#position)
    this.#position += size
    if (code === 10) this.#line++
    return code
  }

  #backup(): void {
    if (this.#isAtEnd || this.#position === 0) return
    const { code, size } = decodeLastRune(this.#input, this.#position)
    this.#position -= size
    if (code === 10) this.#line--
  }

  #peek(): number {
    const code = this.#next()
    this.#backup()
    return code
  }

  #emit(type: TokenType): Token {
    const token = { type, position: this.#start, value: this.#pending(), line: this.#startLine }
    this.#start = this.#position
    this.#startLine = this.#line
    return token
  }

  #pending(): GoString {
    return this.#input.slice(this.#start, this.#position)
  }

  #rest(): GoString {
    return this.#input.slice(this.#position)
  }

  #startsWith(text: GoString, offset = 0): boolean {
    return this.#input.startsWith(text, this.#position + offset)
  }

  #ignore(): void {
    this.#line += countLines(this.#pending())
    this.#start = this.#position
    this.#startLine = this.#line
  }

  #error(value: GoString): Token {
    const token: Token = { type: 'error', position: this.#start, value, line: this.#startLine }
    this.#start = 0
    this.#position = 0
    this.#input = ''
    return token
  }

  #accept(valid: string): boolean {
    const code = this.#next()
    if (code !== endOfInput && code < 0x80 && valid.includes(String.fromCharCode(code))) return true
    this.#backup()
    return false
  }

  #acceptRun(valid: string): void {
    while (this.#accept(valid));
  }

  #text: State = () => {
    const at = this.#input.indexOf('{{', this.#position)
    if (at < 0) {
      this.#position = this.#input.length
      if (this.#position === this.#start) return this.#emit('eof')
      this.#line += countLines(this.#pending())
      return this.#emit('text')
    }
    if (at === this.#position) return this.#leftDelimiter
    const text = this.#input.slice(this.#start, at)
    const isTrimmed = beginsWithTrimMarker(this.#input.slice(at + 2, at + 4))
    const kept = isTrimmed ? trimEnd(text) : text
    this.#position = this.#start + kept.length
    this.#line += countLines(kept)
    const token = this.#emit('text')
    this.#position = at
    this.#ignore()
    return token.value === '' ? this.#leftDelimiter : token
  }

  #leftDelimiter: State = () => {
    this.#position += 2
    const afterMarker = beginsWithTrimMarker(this.#rest().slice(0, 2)) ? trimMarkerLength : 0
    if (this.#startsWith('/*', afterMarker)) {
      this.#position += afterMarker
      this.#ignore()
      return this.#comment
    }
    const token = this.#emit('leftDelimiter')
    this.#isInsideAction = true
    this.#position += afterMarker
    this.#ignore()
    this.#parenDepth = 0
    return token
  }

  #comment: State = () => {
    const end = this.#input.indexOf('*/', this.#position + 2)
    if (end < 0) return this.#error('unclosed comment')
    this.#position = end + 2
    const delimiter = this.#atRightDelimiter()
    if (delimiter === undefined) return this.#error('comment ends before closing delimiter')
    this.#ignore()
    this.#position += (delimiter.isTrimming ? trimMarkerLength : 0) + 2
    if (delimiter.isTrimming) this.#skipSpaces()
    this.#ignore()
    return this.#text
  }

  #atRightDelimiter(): { isTrimming: boolean } | undefined {
    if (endsWithTrimMarker(this.#input.slice(this.#position, this.#position + 2)) && this.#startsWith('}}', 2))
      return { isTrimming: true }
    return this.#startsWith('}}') ? { isTrimming: false } : undefined
  }

  #skipSpaces(): void {
    while (isSpace(this.#input.charCodeAt(this.#position))) this.#position++
  }

  #rightDelimiter: State = () => {
    const isTrimming = this.#atRightDelimiter()?.isTrimming === true
    if (isTrimming) {
      this.#position += trimMarkerLength
      this.#ignore()
    }
    this.#position += 2
    const token = this.#emit('rightDelimiter')
    if (isTrimming) {
      this.#skipSpaces()
      this.#ignore()
    }
    this.#isInsideAction = false
    return token
  }

  #insideAction: State = () => {
    if (this.#atRightDelimiter())
      return this.#parenDepth === 0 ? this.#rightDelimiter : this.#error('unclosed left paren')
    const code = this.#next()
    if (code === endOfInput) return this.#error('unclosed action')
    if (isSpace(code)) {
      this.#backup()
      return this.#space
    }
    const char = code < 0x80 ? String.fromCharCode(code) : ''
    switch (char) {
      case '=':
        return this.#emit('assign')
      case ':':
        return this.#next() === 0x3d ? this.#emit('declare') : this.#error('expected :=')
      case '|':
        return this.#emit('pipe')
      case '"':
        return this.#quoted('"', 'string', 'unterminated quoted string')
      case '`':
        return this.#rawQuoted
      case '$':
        return this.#fieldOrVariable('variable')
      case "'":
        return this.#quoted("'", 'charConstant', 'unterminated character constant')
      case '(':
        this.#parenDepth++
        return this.#emit('leftParen')
      case ')':
        this.#parenDepth--
        return this.#parenDepth < 0 ? this.#error('unexpected right paren') : this.#emit('rightParen')
    }
    const following = this.#input.charAt(this.#position)
    if (char === '.' && following !== '' && !/\d/.test(following)) return this.#fieldOrVariable('field')
    if (char !== '' && /[.+\-\d]/.test(char)) {
      this.#backup()
      return this.#number
    }
    if (isAlphaNumeric(code)) {
      this.#backup()
      return this.#identifier
    }
    if (char !== '' && isPrint(code)) return this.#emit('char')
    return this.#error(`unrecognized character in action: ${describeRune(code)}`)
  }

  #space: State = () => {
    let count = 0
    while (isSpace(this.#peek())) {
      this.#next()
      count++
    }
    const last = this.#position - 1
    if (endsWithTrimMarker(this.#input.slice(last, last + 2)) && this.#startsWith('}}', 1)) {
      this.#backup()
      if (count === 1) return this.#rightDelimiter
    }
    return this.#emit('space')
  }

  #identifier: State = () => {
    let code = this.#next()
    while (isAlphaNumeric(code)) code = this.#next()
    this.#backup()
    if (!this.#isAtTerminator()) return this.#error(`bad character ${describeRune(code)}`)
    const word = this.#pending()
    if ((keywords as readonly string[]).includes(word)) return this.#emit(word as Keyword)
    return this.#emit(word === 'true' || word === 'false' ? 'bool' : 'identifier')
  }

  #fieldOrVariable(type: 'field' | 'variable'): Token {
    if (this.#isAtTerminator()) return this.#emit(type === 'variable' ? 'variable' : '.')
    let code = this.#next()
    while (isAlphaNumeric(code)) code = this.#next()
    this.#backup()
    return this.#isAtTerminator() ? this.#emit(type) : this.#error(`bad character ${describeRune(code)}`)
  }

  #isAtTerminator(): boolean {
    const code = this.#peek()
    if (code === endOfInput || isSpace(code)) return true
    return (code < 0x80 && '.,|:)('.includes(String.fromCharCode(code))) || this.#startsWith('}}')
  }

  #quoted(delimiter: string, type: TokenType, unterminated: string): Token {
    for (;;) {
      let code = this.#next()
      if (code === delimiter.charCodeAt(0)) return this.#emit(type)
      if (code === 0x5c) {
        code = this.#next()
        if (code !== endOfInput && code !== 10) continue
      }
      if (code === endOfInput || code === 10) return this.#error(unterminated)
    }
  }

  #rawQuoted: State = () => {
    for (;;) {
      const code = this.#next()
      if (code === endOfInput) return this.#error('unterminated raw quoted string')
      if (code === 0x60) return this.#emit('rawString')
    }
  }

  #number: State = () => {
    if (!this.#scanNumber()) return this.#badNumber()
    const sign = this.#peek()
    if (sign !== 0x2b && sign !== 0x2d) return this.#emit('number')
    if (!this.#scanNumber() || this.#input.charAt(this.#position - 1) !== 'i') return this.#badNumber()
    return this.#emit('complex')
  }

  #badNumber(): Token {
    return this.#error(`bad number syntax: ${quote(this.#pending())}`)
  }

  #scanNumber(): boolean {
    this.#accept('+-')
    let digits = '0123456789_'
    if (this.#accept('0')) {
      if (this.#accept('xX')) digits = '0123456789abcdefABCDEF_'
      else if (this.#accept('oO')) digits = '01234567_'
      else if (this.#accept('bB')) digits = '01_'
    }
    this.#acceptRun(digits)
    if (this.#accept('.')) this.#acceptRun(digits)
    const exponent = { 11: 'eE', 23: 'pP' }[digits.length]
    if (exponent !== undefined && this.#accept(exponent)) {
      this.#accept('+-')
      this.#acceptRun('0123456789_')
    }
    this.#accept('i')
    if (!isAlphaNumeric(this.#peek())) return true
    this.#next()
    return false
  }
}

function trimEnd(text: GoString): GoString {
  let end = text.length
  while (isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

/** A rune as Go's %#U. */
function describeRune(code: number): GoString {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  return isPrint(code) ? `${number} '${encodeRune(code)}'` : number
}
