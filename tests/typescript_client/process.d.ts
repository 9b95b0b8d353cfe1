/** What the programs use of Node. */
declare const process: {
  argv: string[];
  env: Record<string, string | undefined>;
  stdin: { once(event: "data", heard: (data: unknown) => void): void };
  exit(): never;
};
