import type { World } from './world.ts'

/** Without what differs from run to run: ids, times, addresses, and the steps on the way to the verdict. */
export const normalizeOutput = (text: string, tag: string, { service, simulator }: World) =>
  text
    .replaceAll(tag, '<tag>')
    .replaceAll(service.url, '<server>')
    .replaceAll(simulator.argoUrl, '<argo-cd>')
    .replaceAll(simulator.git.url('gitops'), '<repository>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\b[0-9a-f]{40}\b/g, '<commit>')
    .replace(/-[0-9a-f]{10}-[a-z0-9]{5}\b/g, '-<pod>')
    .replace(/^(\S+ +)?\+\S+ +(?! |deployed$|failed$|cancelled$|aborted$|app not found$).*\n/gm, '')
    .replace(/\+[\dhm.]+s +/g, '+<time> ')
    .replace(/after [\dhm.]+s/g, 'after <time>')
    .replace(/(section_\w+):\d+/g, '$1:<time>')
    .replace(/1[7-9]\d{8}(\.\d+)?/g, '<seconds>')
    .replaceAll('\x1b', '<esc>')
    .replaceAll('\r', '<cr>')
