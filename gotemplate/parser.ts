import type { GoString } from './bytes.ts'
import { describeToken, Lexer, type Token, type TokenType } from './lexer.ts'
import {
  type BranchNode,
  type CommandNode,
  isEmptyBody,
  type ListNode,
  type Node,
  nodeText,
  type Operand,
  type PipeNode,
  type VariableNode,
} from './nodes.ts'
import { parseCharConstant, parseComplex, parseNumber } from './numbers.ts'
import { quote, unquote } from './quote.ts'
import { TemplateError } from './template-error.ts'

/** The bodies of a template and of those that it defines, by name. */
export type Bodies = Map<GoString, ListNode>

/** Go's own limit is 10,000. */
const maxParenDepth = 1000

/** Parses a template and those that it defines. @throws {TemplateError} in Go's words */
export function parseBodies(name: GoString, text: GoString, functions: ReadonlySet<string>): Bodies {
  const bodies: Bodies = new Map()
  new Parser({ name, lexer: new Lexer(text), functions, bodies }).parseTemplate()
  return bodies
}

type Source = {
  readonly name: GoString
  readonly lexer: Lexer
  readonly functions: ReadonlySet<string>
  readonly bodies: Bodies
}

/** What ends a list of nodes. */
type ListEnd = { readonly kind: 'end' | 'else'; readonly position: number }

const beginsOperand: ReadonlySet<TokenType> = new Set([
  'bool',
  'charConstant',
  'complex',
  '.',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
])
const isNoFunction: ReadonlySet<Operand['kind']> = new Set(['bool', 'dot', 'nil', 'number', 'string'])

const endOfFile: Token = { type: 'eof', position: 0, value: '', line: 1 }

/** Go's parser of templates: one for each body, all on the same lexer. */
class Parser {
  readonly #source: Source
  /** As in Go, errors name the line of the first. */
  #tokens: [Token, Token, Token] = [endOfFile, endOfFile, endOfFile]
  #peekCount = 0
  #variables: GoString[] = ['$']
  #actionLine = 0
  #rangeDepth = 0
  #parenDepth = 0

  constructor(source: Source) {
    this.#source = source
  }

  parseTemplate(): void {
    const position = this.#peek().position
    const nodes: Node[] = []
    while (this.#peek().type !== 'eof') {
      if (this.#peek().type === 'leftDelimiter') {
        const delimiter = this.#next()
        if (this.#nextNonSpace().type === 'define') {
          new Parser(this.#source).#parseDefinition()
          continue
        }
        this.#backup(delimiter)
      }
      const node = this.#textOrAction()
      if (isListEnd(node)) this.#fail(`unexpected {{${node.kind}}}`)
      nodes.push(node)
    }
    this.#add(this.#source.name, { kind: 'list', position, nodes })
  }

  #parseDefinition(): void {
    const name = this.#nextNonSpace()
    if (name.type !== 'string' && name.type !== 'rawString') this.#failAt(name, 'define clause')
    const unquoted = this.#unquote(name)
    this.#expect('rightDelimiter', 'define clause')
    this.#parseBody(unquoted, 'define clause')
  }

  #parseBody(name: GoString, context: string): void {
    const { list, end } = this.#itemList()
    if (end.kind === 'else') this.#fail(`unexpected {{else}} in ${context}`)
    this.#add(name, list)
  }

  #add(name: GoString, body: ListNode): void {
    const earlier = this.#source.bodies.get(name)
    if (earlier === undefined || isEmptyBody(earlier)) this.#source.bodies.set(name, body)
    else if (!isEmptyBody(body)) this.#fail(`template: multiple definition of template ${quote(name)}`)
  }

  #itemList(): { list: ListNode; end: ListEnd } {
    const position = this.#peekNonSpace().position
    const nodes: Node[] = []
    while (this.#peekNonSpace().type !== 'eof') {
      const node = this.#textOrAction()
      if (isListEnd(node)) return { list: { kind: 'list', position, nodes }, end: node }
      nodes.push(node)
    }
    return this.#fail('unexpected EOF')
  }

  #textOrAction(): Node | ListEnd {
    const token = this.#nextNonSpace()
    if (token.type === 'text') return { kind: 'text', position: token.position, text: token.value }
    if (token.type !== 'leftDelimiter') return this.#failAt(token, 'input')
    this.#actionLine = token.line
    const action = this.#action()
    this.#actionLine = 0
    return action
  }

  #action(): Node | ListEnd {
    const token = this.#nextNonSpace()
    switch (token.type) {
      case 'block':
        return this.#block()
      case 'break':
      case 'continue':
        return this.#leaveRange(token, token.type)
      case 'else':
        return this.#else()
      case 'end':
        return { kind: 'end', position: this.#expect('rightDelimiter', 'end').position }
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.type)
      case 'template':
        return this.#template()
    }
    this.#backup()
    const { position } = this.#peek()
    return { kind: 'action', position, pipe: this.#pipeline('command', 'rightDelimiter') }
  }

  #leaveRange(token: Token, kind: 'break' | 'continue'): Node {
    const end = this.#nextNonSpace()
    if (end.type !== 'rightDelimiter') this.#failAt(end, `{{${kind}}}`)
    if (this.#rangeDepth === 0) this.#fail(`{{${kind}}} outside {{range}}`)
    return { kind, position: token.position }
  }

  #else(): ListEnd {
    const token = this.#peekNonSpace()
    const isChained = token.type === 'if' || token.type === 'with'
    return { kind: 'else', position: isChained ? token.position : this.#expect('rightDelimiter', 'else').position }
  }

  #branch(kind: BranchNode['kind']): BranchNode {
    const variableCount = this.#variables.length
    const pipe = this.#pipeline(kind, 'rightDelimiter')
    if (kind === 'range') this.#rangeDepth++
    const { list, end } = this.#itemList()
    if (kind === 'range') this.#rangeDepth--
    const elseList = end.kind === 'else' ? this.#elseList(kind, end) : undefined
    this.#variables.length = variableCount
    return { kind, position: pipe.position, pipe, list, elseList }
  }

  #elseList(kind: BranchNode['kind'], { position }: ListEnd): ListNode {
    if (kind !== 'range' && this.#peek().type === kind) {
      this.#next()
      return { kind: 'list', position, nodes: [this.#branch(kind)] }
    }
    const { list, end } = this.#itemList()
    if (end.kind === 'else') this.#fail('expected end; found {{else}}')
    return list
  }

  #block(): Node {
    const token = this.#nextNonSpace()
    const name = this.#templateName(token, 'block clause')
    const pipe = this.#pipeline('block clause', 'rightDelimiter')
    new Parser(this.#source).#parseBody(name, 'block clause')
    return { kind: 'template', position: token.position, name, pipe }
  }

  #template(): Node {
    const token = this.#nextNonSpace()
    const name = this.#templateName(token, 'template clause')
    if (this.#nextNonSpace().type === 'rightDelimiter')
      return { kind: 'template', position: token.position, name, pipe: undefined }
    this.#backup()
    const pipe = this.#pipeline('template clause', 'rightDelimiter')
    return { kind: 'template', position: token.position, name, pipe }
  }

  #templateName(token: Token, context: string): GoString {
    return token.type === 'string' || token.type === 'rawString' ? this.#unquote(token) : this.#failAt(token, context)
  }

  #pipeline(context: string, end: 'rightDelimiter' | 'rightParen'): PipeNode {
    const { position } = this.#peekNonSpace()
    const variables: VariableNode[] = []
    const isAssignment = this.#declarations(context, variables)
    const commands: CommandNode[] = []
    for (;;) {
      const token = this.#nextNonSpace()
      if (token.type === end) break
      if (!beginsOperand.has(token.type)) this.#failAt(token, context)
      this.#backup()
      commands.push(this.#command())
    }
    if (commands.length === 0) this.#fail(`missing value for ${context}`)
    const wrong = commands.findIndex(
      ({ operands: [first] }, stage) => stage > 0 && first && isNoFunction.has(first.kind),
    )
    if (wrong > 0) this.#fail(`non executable command in pipeline stage ${wrong + 1}`)
    return { kind: 'pipe', position, isAssignment, variables, commands }
  }

  /** The variables before `:=` or `=`; answers whether it is `=`. */
  #declarations(context: string, variables: VariableNode[]): boolean {
    for (;;) {
      const variable = this.#peekNonSpace()
      if (variable.type !== 'variable') return false
      this.#next()
      const afterVariable = this.#peek()
      const next = this.#peekNonSpace()
      const isComma = next.type === 'char' && next.value === ','
      if (next.type !== 'assign' && next.type !== 'declare' && !isComma) {
        if (afterVariable.type === 'space') this.#backup(variable, afterVariable)
        else this.#backup(variable)
        return false
      }
      this.#nextNonSpace()
      variables.push(variableNode(variable.position, variable.value))
      this.#variables.push(variable.value)
      if (!isComma) return next.type === 'assign'
      if (context !== 'range' || variables.length > 1) this.#fail(`too many declarations in ${context}`)
      if (!['variable', 'rightDelimiter', 'rightParen'].includes(this.#peekNonSpace().type))
        this.#fail('range can only initialize variables')
    }
  }

  #command(): CommandNode {
    const { position } = this.#peekNonSpace()
    const operands: Operand[] = []
    for (;;) {
      this.#peekNonSpace()
      const operand = this.#operand()
      if (operand) operands.push(operand)
      const token = this.#next()
      if (token.type === 'space') continue
      if (token.type === 'rightDelimiter' || token.type === 'rightParen') this.#backup()
      else if (token.type !== 'pipe') this.#failAt(token, 'operand')
      if (operands.length === 0) this.#fail('empty command')
      return { kind: 'command', position, operands }
    }
  }

  #operand(): Operand | undefined {
    const term = this.#term()
    if (term === undefined || this.#peek().type !== 'field') return term
    const { position } = this.#peek()
    const names: GoString[] = []
    while (this.#peek().type === 'field') names.push(this.#next().value.slice(1))
    if (term.kind === 'field' || term.kind === 'variable')
      return { kind: term.kind, position, names: [...term.names, ...names] }
    if (isNoFunction.has(term.kind)) this.#fail(`unexpected . after term ${quote(nodeText(term))}`)
    return { kind: 'chain', position, of: term, names }
  }

  #term(): Operand | undefined {
    const token = this.#nextNonSpace()
    const { position, value } = token
    switch (token.type) {
      case 'identifier':
        if (!this.#source.functions.has(value)) this.#fail(`function ${quote(value)} not defined`)
        return { kind: 'identifier', position, name: value }
      case '.':
        return { kind: 'dot', position }
      case 'nil':
        return { kind: 'nil', position }
      case 'variable':
        if (!this.#variables.includes(value)) this.#fail(`undefined variable ${quote(value)}`)
        return variableNode(position, value)
      case 'field':
        return { kind: 'field', position, names: [value.slice(1)] }
      case 'bool':
        return { kind: 'bool', position, value: value === 'true' }
      case 'charConstant':
      case 'complex':
      case 'number':
        return this.#number(token)
      case 'leftParen':
        return this.#parenthesized()
      case 'string':
      case 'rawString':
        return { kind: 'string', position, quoted: value, value: this.#unquote(token) }
    }
    this.#backup()
    return undefined
  }

  #parenthesized(): PipeNode {
    if (this.#parenDepth >= maxParenDepth) this.#fail('max expression depth exceeded')
    this.#parenDepth++
    const pipe = this.#pipeline('parenthesized pipeline', 'rightParen')
    this.#parenDepth--
    return pipe
  }

  #number({ type, position, value }: Token): Operand {
    const parse = { charConstant: parseCharConstant, complex: parseComplex }[type as string] ?? parseNumber
    const constant = parse(value)
    return 'error' in constant ? this.#fail(constant.error) : { kind: 'number', position, text: value, constant }
  }

  #unquote({ value }: Token): GoString {
    return unquote(value) ?? this.#fail('invalid syntax')
  }

  #next(): Token {
    if (this.#peekCount > 0) this.#peekCount--
    else this.#tokens[0] = this.#source.lexer.nextToken()
    return this.#tokens[this.#peekCount] ?? endOfFile
  }

  #peek(): Token {
    const token = this.#next()
    this.#peekCount++
    return token
  }

  #nextNonSpace(): Token {
    for (;;) {
      const token = this.#next()
      if (token.type !== 'space') return token
    }
  }

  #peekNonSpace(): Token {
    const token = this.#nextNonSpace()
    this.#peekCount++
    return token
  }

  /** Puts back the last token, and those before it, the first of them first. */
  #backup(first?: Token, second?: Token): void {
    this.#peekCount = first === undefined ? this.#peekCount + 1 : second === undefined ? 2 : 3
    if (first !== undefined) this.#tokens[1] = second ?? first
    if (first !== undefined && second !== undefined) this.#tokens[2] = first
  }

  #expect(type: TokenType, context: string): Token {
    const token = this.#nextNonSpace()
    return token.type === type ? token : this.#failAt(token, context)
  }

  #failAt(token: Token, context: string): never {
    if (token.type !== 'error') return this.#fail(`unexpected ${describeToken(token)} in ${context}`)
    const isElsewhere = this.#actionLine !== 0 && this.#actionLine !== token.line
    const inAction = token.value.endsWith(' action') ? '' : ' in action'
    const started = isElsewhere ? `${inAction} started at ${this.#source.name}:${this.#actionLine}` : ''
    return this.#fail(token.value + started)
  }

  #fail(message: GoString): never {
    throw new TemplateError(`template: ${this.#source.name}:${this.#tokens[0].line}: ${message}`)
  }
}

const isListEnd = (node: Node | ListEnd): node is ListEnd => node.kind === 'end' || node.kind === 'else'

const variableNode = (position: number, name: GoString): VariableNode => ({ kind: 'variable', position, names: [name] })
