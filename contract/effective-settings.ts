import { z } from 'zod'

const EffectiveSetting = z
  .object({
    name: z.string(),
    value: z
      .string()
      .nullable()
      .describe('Effective text; `set` for a secret; null if not set. Addresses without user and password'),
    is_secret: z.boolean(),
    origin: z
      .string()
      .describe(
        '`environment`, `default`, or the variable that gives it under another name: its `_FILE` or an alias, such as ' +
          '`ARGO_TOKEN_FILE`',
      ),
  })
  .meta({ id: 'EffectiveSetting' })
export type EffectiveSetting = z.infer<typeof EffectiveSetting>

const SettingGroup = z
  .object({ name: z.string().describe('As in the list of settings'), settings: z.array(EffectiveSetting) })
  .meta({ id: 'SettingGroup' })
export type SettingGroup = z.infer<typeof SettingGroup>

/** The settings of the replica that answers, as it has read them at its start. */
export const EffectiveSettings = z.object({ groups: z.array(SettingGroup) }).meta({
  id: 'EffectiveSettings',
  examples: [
    {
      groups: [
        {
          name: 'Argo CD',
          settings: [
            { name: 'ARGO_URL', value: 'https://argocd.example', is_secret: false, origin: 'environment' },
            { name: 'ARGO_TOKEN', value: 'set', is_secret: true, origin: 'ARGO_TOKEN_FILE' },
            { name: 'ARGO_API_TIMEOUT', value: '60', is_secret: false, origin: 'default' },
          ],
        },
      ],
    },
  ],
})
export type EffectiveSettings = z.infer<typeof EffectiveSettings>
