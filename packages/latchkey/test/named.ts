/** One of everything that an input can name. */
export interface Named {
  readonly apiId: string;
  readonly apiName: string;
  readonly keyId: string;
  readonly key: string;
  readonly identityId: string;
  readonly externalId: string;
  readonly roleId: string;
  readonly roleName: string;
  readonly permissionId: string;
  readonly permissionName: string;
  readonly rootKeyId: string;
  readonly namespace: string;
  readonly reservationId: string;
}
