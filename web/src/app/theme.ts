import { type CSSVariablesResolver, createTheme } from '@mantine/core'

const float = 'var(--shadow-float)'

/** Mantine speaks in the design's tokens. Contrast is decided there, so Mantine decides none. */
export const theme = createTheme({
  fontFamily: 'var(--font-text)',
  fontFamilyMonospace: 'var(--font-code)',
  fontSizes: {
    xs: 'var(--text-xs)',
    sm: 'var(--text-s)',
    md: 'var(--text-m)',
    lg: 'var(--text-l)',
    xl: 'var(--text-xl)',
  },
  lineHeights: {
    xs: 'var(--leading)',
    sm: 'var(--leading)',
    md: 'var(--leading)',
    lg: 'var(--leading)',
    xl: 'var(--leading)',
  },
  spacing: {
    xs: 'var(--space-1)',
    sm: 'var(--space-2)',
    md: 'var(--space-3)',
    lg: 'var(--space-4)',
    xl: 'var(--space-5)',
  },
  radius: { xs: 'var(--radius-s)', sm: 'var(--radius)', md: 'var(--radius-l)' },
  defaultRadius: 'sm',
  shadows: { xs: float, sm: float, md: float, lg: float, xl: float },
  breakpoints: { sm: '48em', md: '68em' },
  focusRing: 'never',
  respectReducedMotion: true,
  cursorType: 'pointer',
  autoContrast: false,
})

const tokens = {
  '--mantine-color-body': 'var(--bg)',
  '--mantine-color-text': 'var(--ink-2)',
  '--mantine-color-bright': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-3)',
  '--mantine-color-placeholder': 'var(--ink-3)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-border': 'var(--control)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
  '--mantine-primary-color-light': 'var(--accent-soft)',
  '--mantine-primary-color-light-color': 'var(--accent)',
  '--mantine-color-anchor': 'var(--ink)',
  '--mantine-color-error': 'var(--failed)',
  '--mantine-color-disabled-color': 'var(--ink-3)',
}

/** Both schemes alike: the tokens switch by themselves. */
export const tokensForMantine: CSSVariablesResolver = () => ({ variables: {}, light: tokens, dark: tokens })
