// Reading and writing files: checksums, checkpoints, records. files/plain_... measures a program
// that only reads or writes as many bytes, as dd does with conv=fsync.
#include "bench/benchmarks.hpp"
#include "troupe/serialization/checkpoint/safetensors.hpp"
#include "troupe/serialization/records/text_records.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

namespace troupe::bench {
namespace {

/// A folder on the disk that TMPDIR names; the destructor removes it.
struct folder {
  folder() { std::filesystem::create_directories(path); }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path =
      (std::filesystem::temp_directory_path() / concat("troupe_bench.", ::getpid())).string();
  std::string file = path + "/x";
};

tensor numbers(int64_t bytes) {
  auto values = must(tensor::make(dtype::i32, {bytes / 4096, 1024}));
  std::iota(values.data<int32_t>(), values.data<int32_t>() + values.elements(), 0);
  return values;
}

using checksum_fn = uint64_t (*)(std::span<const std::byte>);

template <checksum_fn Sum>
void checksum(benchmark::State& state) {
  auto value = numbers(1 << 20);
  std::span bytes{static_cast<const std::byte*>(value.raw()), value.bytes()};
  for (auto _ : state)
    benchmark::DoNotOptimize(Sum(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

uint64_t sum_crc32c(std::span<const std::byte> bytes) { return crc32c(bytes); }
uint64_t sum_crc32c_by_table(std::span<const std::byte> bytes) { return crc32c_by_table(bytes); }
uint64_t sum_xxh3(std::span<const std::byte> bytes) {
  checksum_stream sum;
  sum.add(bytes);
  return sum.value();
}

void write_plain(const std::string& file, const tensor& value) {
  auto output = must(real_files().create(file));
  std::span unwritten{static_cast<const std::byte*>(value.raw()), value.bytes()};
  for (; !unwritten.empty();
       unwritten = unwritten.subspan(std::min<size_t>(1 << 20, unwritten.size())))
    must(output->append(unwritten.first(std::min<size_t>(1 << 20, unwritten.size()))));
  must(output->sync());
}

void read_plain(const std::string& file, const tensor& model) {
  auto input = must(real_files().open(file));
  auto value = must(tensor::make(model.type(), model.dims()));
  must(input->read(0, {static_cast<std::byte*>(value.raw()), value.bytes()}));
}

std::vector<stored_tensor> write_tensor(const std::string& file, const tensor& value) {
  return must(
      write_safetensors(real_files(), file, std::vector{std::pair{std::string{"x"}, value}}));
}

void write_bundle(const std::string& file, const tensor& value) {
  auto writer = must(tensor_bundle_writer::begin(real_files(), file));
  must(writer.add("x", value));
  must(writer.finish());
}

// Files are removed between iterations, outside the measured time: freeing a gigabyte takes time
// too.
template <class Write>
void writing(benchmark::State& state, const Write& write) {
  folder target;
  auto value = numbers(state.range(0));
  for (auto _ : state) {
    write(target.file, value);
    state.PauseTiming();
    std::filesystem::remove_all(target.path);
    std::filesystem::create_directories(target.path);
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void plain_write(benchmark::State& state) { writing(state, write_plain); }
void safetensors_write(benchmark::State& state) { writing(state, write_tensor); }
void bundle_write(benchmark::State& state) { writing(state, write_bundle); }

void plain_read(benchmark::State& state) {
  folder source;
  auto value = numbers(state.range(0));
  write_plain(source.file, value);
  for (auto _ : state)
    read_plain(source.file, value);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void safetensors_read(benchmark::State& state) {
  folder source;
  auto stored = write_tensor(source.file, numbers(state.range(0)));
  for (auto _ : state) {
    auto reader = must(safetensors_reader::open(real_files(), source.file));
    must(reader.read("x", stored[0].checksum));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void bundle_read(benchmark::State& state) {
  folder source;
  write_bundle(source.file, numbers(state.range(0)));
  for (auto _ : state)
    must(must(tensor_bundle_reader::open(real_files(), source.file)).read("x"));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

constexpr int records = 64 << 10;
constexpr size_t record_bytes = 1 << 10;

void write_records(const std::string& file) {
  auto writer = must(tfrecord_writer::create(real_files(), file));
  const std::string record(record_bytes, 'x');
  for (int i = 0; i < records; ++i)
    must(writer.add(record));
  must(writer.finish());
}

void tfrecord_write(benchmark::State& state) {
  folder target;
  for (auto _ : state)
    write_records(target.file);
  state.SetBytesProcessed(state.iterations() * records * static_cast<int64_t>(record_bytes));
}

void read_all(benchmark::State& state, const auto& open) {
  std::string record;
  for (auto _ : state)
    for (auto reader = must(open()); must(reader->next(record));)
      benchmark::DoNotOptimize(record.data());
  state.SetItemsProcessed(state.iterations() * records);
  state.SetBytesProcessed(state.iterations() * records * static_cast<int64_t>(record_bytes));
}

void tfrecord_read(benchmark::State& state) {
  folder source;
  write_records(source.file);
  read_all(state, [&] { return open_tfrecord(real_files(), source.file); });
}

void lines_read(benchmark::State& state) {
  folder source;
  auto output = must(output_stream::create(real_files(), source.file));
  for (int i = 0; i < records; ++i)
    must(output.write(std::string(record_bytes - 1, 'x') + '\n'));
  must(output.finish());
  read_all(state, [&] { return open_lines(real_files(), source.file); });
}

} // namespace

void register_files() {
  auto add = [](const char* name, auto* run, int64_t bytes) {
    benchmark::RegisterBenchmark(name, run)->Arg(bytes)->UseRealTime()->Unit(
        benchmark::kMillisecond);
  };
  add("files/crc32c", checksum<sum_crc32c>, 1 << 20);
  add("files/crc32c_by_table", checksum<sum_crc32c_by_table>, 1 << 20);
  add("files/xxh3", checksum<sum_xxh3>, 1 << 20);
  struct file_benchmark {
    const char* name;
    void (*run)(benchmark::State&);
  };
  for (auto [name, run] : {file_benchmark{"plain_write", plain_write},
                           file_benchmark{"safetensors_write", safetensors_write},
                           file_benchmark{"tensor_bundle_write", bundle_write},
                           file_benchmark{"plain_read", plain_read},
                           file_benchmark{"safetensors_read", safetensors_read},
                           file_benchmark{"tensor_bundle_read", bundle_read}}) {
    add(concat("files/", name, "_16M").c_str(), run, 16 << 20);
    add(concat("files/", name, "_1G").c_str(), run, 1 << 30);
  }
  add("files/tfrecord_write", tfrecord_write, record_bytes);
  add("files/tfrecord_read", tfrecord_read, record_bytes);
  add("files/lines_read", lines_read, record_bytes);
}

} // namespace troupe::bench
