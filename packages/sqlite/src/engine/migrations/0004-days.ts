/** Sums of a day are read by subject, and deleted by day. */
export const DAYS = `
CREATE INDEX latchkey_statistic_day ON latchkey_statistic (workspace, hour_at / 86400000, kind, subject);
DROP INDEX latchkey_statistic_hour;
`;
