// One person's use of the AI SDK, pointed at the chat door: what it got, as JSON on one line.
import { createRequire } from 'node:module';

const from = createRequire(process.argv[2]);
const { embedMany, generateText, streamText } = from('ai');
const { createOpenAICompatible } = from('@ai-sdk/openai-compatible');

const provider = createOpenAICompatible({
  name: 'souvenance',
  baseURL: process.env.DOOR,
  apiKey: process.env.CAP,
  headers: { 'X-Hermes-User-Id': 'ann' },
  queryParams: { 'api-version': '2024-10-21' },
});
const model = provider('parrot-1');

const said = await generateText({ model, prompt: process.argv[3], maxRetries: 0 });
const streamed = streamText({ model, prompt: 'Count.', maxRetries: 0 });
const pieces = [];
for await (const piece of streamed.textStream) pieces.push(piece);
const embedded = await embedMany({ model: provider.embeddingModel('m'), values: ['hi'], maxRetries: 0 });

console.log(JSON.stringify({
  text: said.text,
  recalled: said.response.headers['x-souvenance-recalled'],
  pieces,
  embeddings: embedded.embeddings,
}));
