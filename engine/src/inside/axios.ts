/** The package `axios` in its form for browsers: it sends by fetch, which the engine has. A form of `form-data` goes as bytes. */
import axios from 'axios/dist/browser/axios.cjs';

interface Form {
  getHeaders(): Readonly<Record<string, string>>;
  getBuffer(): unknown;
}

const isForm = (data: unknown): data is Form =>
  typeof data === 'object' && data !== null && 'getHeaders' in data && 'getBuffer' in data;

axios.defaults.transformRequest.unshift((data: unknown, headers: { set(name: string, value: string): void }) => {
  if (!isForm(data)) return data;
  for (const [name, value] of Object.entries(data.getHeaders())) headers.set(name, value);
  return data.getBuffer();
});

export default axios;
