// Input from files: a batch of 128 is read, decoded and shuffled before the step that takes it.
// Items are examples. bench/rivals/input_files.py writes the same files for the rivals.
#include "bench/benchmarks.hpp"
#include "troupe/serialization/records/text_records.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/troupe.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

namespace troupe::bench {
namespace {

using benchmark::State;

constexpr int batch_size = 128;
constexpr int64_t side = 8, scale = 8; // pixels of a digit, and how many times larger its PNG is
constexpr int label_at = side * side;  // byte of the label in a record

/// The digits of examples/data: each as a record of 64 bytes of pixels and a byte with the label,
/// and as a record of the label's byte and a PNG of 64 x 64 pixels.
struct input_files {
  input_files() {
    std::filesystem::create_directories(folder);
    auto rows = must(open_lines(real_files(), TROUPE_BENCH_DIGITS, {.kind = compression::gzip}));
    graph_builder g;
    auto s = session::local();
    auto raw = must(tfrecord_writer::create(real_files(), digits));
    auto image = must(tfrecord_writer::create(real_files(), pngs));
    auto pixels = must(tensor::make(dtype::u8, {side * scale, side * scale, 1}));
    auto wide = g.placeholder(dtype::u8, {side * scale, side * scale, 1}, "wide");
    auto encode = s.prepare({wide}, {encode_png(wide)});
    for (std::string line; must(rows->next(line));) {
      std::string record;
      for (size_t at = 0, next = 0; next != std::string::npos; at = next + 1) {
        next = line.find(',', at);
        record += static_cast<char>(std::stoi(line.substr(at, next - at)));
      }
      must(raw.add(record));
      for (int64_t y = 0; y < side * scale; ++y)
        for (int64_t x = 0; x < side * scale; ++x)
          pixels.data<uint8_t>()[y * side * scale + x] =
              static_cast<uint8_t>(15 * record[static_cast<size_t>(y / scale * side + x / scale)]);
      must(image.add(record.back() + to_scalar<std::string>(encode.run({pixels})[0])));
    }
    must(raw.finish());
    must(image.finish());
  }
  ~input_files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string folder =
      (std::filesystem::temp_directory_path() / concat("troupe_bench_input.", ::getpid())).string();
  std::string digits = folder + "/digits.tfrecord", pngs = folder + "/pngs.tfrecord";
};

/// Takes batches of a pipeline, which runs concurrently.
void take(State& state, const input_pipeline& input, const std::vector<edge>& batch) {
  auto s = session::local(options());
  coordinator runners;
  input.start(s, runners);
  auto step = s.prepare({}, batch);
  step.run();
  for (auto _ : state)
    benchmark::DoNotOptimize(step.run());
  state.SetItemsProcessed(state.iterations() * batch_size);
  runners.request_stop();
  runners.join();
}

void tfrecord_digits(State& state, int64_t records_per_read) {
  input_files files;
  graph_builder g;
  input_pipeline input{g};
  auto names = g.constant(tensor::vector<std::string>({files.digits}));
  auto records = input.records(names, tf_records{}, {.records_per_read = records_per_read}).value;
  auto bytes = decode_raw(records, dtype::u8);
  auto batch = input.shuffle_batch({bytes}, batch_size,
                                   {.concurrent_enqueues = 2,
                                    .capacity = 4096,
                                    .min_after_dequeue = 1024,
                                    .enqueue_many = records_per_read > 1,
                                    .shapes = {shape{side * side + 1}}})[0];
  auto images = cast(slice(batch, {0, 0}, {-1, label_at}), dtype::f32) / 16.0f;
  auto labels = cast(slice(batch, {0, label_at}, {-1, 1}), dtype::i32);
  take(state, input, input.prefetch({images, labels}));
}

void png(State& state) {
  input_files files;
  graph_builder g;
  input_pipeline input{g};
  auto names = g.constant(tensor::vector<std::string>({files.pngs}));
  auto record = input.records(names, tf_records{}).value;
  auto label = cast(reshape(decode_raw(substr(record, 0, 1), dtype::u8), tensor::vector<int>({})),
                    dtype::i32);
  auto image = decode_png(substr(record, 1, 1 << 20), {.channels = 1});
  auto scaled = cast(image, dtype::f32) / 255.0f;
  auto batch = input.shuffle_batch({scaled, label}, batch_size,
                                   {.concurrent_enqueues = 4,
                                    .capacity = 2048,
                                    .min_after_dequeue = 512,
                                    .shapes = {shape{side * scale, side * scale, 1}, shape{}}});
  take(state, input, input.prefetch(batch));
}

template <class Run>
void add(const char* name, Run run) {
  benchmark::RegisterBenchmark(name, run)->UseRealTime()->MeasureProcessCPUTime();
}

} // namespace

void register_input() {
  add("input/digits", [](State& state) { tfrecord_digits(state, 1); });
  add("input/digits_64_at_once", [](State& state) { tfrecord_digits(state, 64); });
  add("input/png", png);
}

} // namespace troupe::bench
