import { useId } from 'react'
import { useOpenFind } from '../find/open-find.ts'
import { ZoneMenu } from '../locks/zone-menu.tsx'
import { DeviceChoices } from '../ui/device-choices.tsx'
import { Icon } from '../ui/icon.tsx'
import { Section } from '../ui/section.tsx'
import { useTab } from '../ui/tab.ts'
import { useJump } from '../ui/use-jump.ts'
import { SettingsSection } from './effective-settings.tsx'
import { HealthSection } from './health-section.tsx'
import { NotificationSection } from './notification-section.tsx'
import { TokenSection } from './token-section.tsx'

/** `/settings`: how is it set up, and who may deploy? */
export function SettingsPage() {
  const find = useOpenFind()
  const zone = useId()
  useTab('Settings')
  useJump()
  return (
    <>
      <div className="between mid">
        <h1 tabIndex={-1}>Settings</h1>
        <nav className="jump" aria-label="On this page">
          <a href="#tokens">Deploy tokens</a>
          <a href="#effective">Effective settings</a>
          <a href="#about">Version and health</a>
          <a href="/swagger/index.html">API explorer</a>
          <a href="#device">On this device</a>
        </nav>
      </div>
      <p className="only-phone">
        <button className="btn" type="button" onClick={find}>
          <Icon name="i-find" />
          Find an application or deployment
        </button>
      </p>
      <div className="cols">
        <div className="flow">
          <NotificationSection />
          <TokenSection />
          <SettingsSection />
        </div>
        <div className="aside">
          <HealthSection />
          <Section title="On this device" id="device">
            <DeviceChoices>
              <div className="field">
                <label htmlFor={zone}>Time zone</label>
                <ZoneMenu id={zone} />
              </div>
            </DeviceChoices>
          </Section>
        </div>
      </div>
    </>
  )
}
