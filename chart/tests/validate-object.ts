import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute'
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import type { KubernetesObject } from './render-chart.ts'

const models = {
  ConfigMap,
  Deployment,
  HTTPRoute,
  Ingress,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  Service,
  ServiceAccount,
  ServiceMonitor,
}

/** Those that the chart makes. */
export const kinds = Object.keys(models)

/** @throws naming each field that breaks the schema of its kind */
export function validate(object: KubernetesObject): void {
  const Model = models[object.kind as keyof typeof models] as unknown as { new (object: unknown): { validate(): void } }
  new Model(object).validate()
}
