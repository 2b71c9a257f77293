// Runs models in onnxruntime-node: node old_runtime.js FOLDER, which has manifest.json.
const fs = require('fs');
const path = require('path');
const ort = require(require.resolve('onnxruntime-node', {paths: [process.cwd()]}));

const arrays = {float64: Float64Array, int64: BigInt64Array};

async function main(folder) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
  for (const [name, about] of Object.entries(manifest)) {
    const feeds = {};
    for (const [input, {file, dtype, shape}] of Object.entries(about.inputs)) {
      const raw = fs.readFileSync(path.join(folder, file));
      const kept = raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength);
      feeds[input] = new ort.Tensor(dtype, new arrays[dtype](kept), shape);
    }
    const session = await ort.InferenceSession.create(about.model);
    const {data} = (await session.run(feeds, [about.output]))[about.output];
    fs.writeFileSync(path.join(folder, `${name}.out`), Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
}

main(process.argv[2]).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
