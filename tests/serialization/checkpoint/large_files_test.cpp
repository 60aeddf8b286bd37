// Tensors of more than 4 GiB, on a disk that stores only the beginning of a file: all later bytes
// are zeros, like memory that was never written.
#include "tests/support/catch.hpp"
#include "troupe/serialization/checkpoint/safetensors.hpp"

#include <algorithm>

namespace troupe::test::large_files_test {
namespace {

constexpr size_t kept_bytes = 4096;

struct kept_file {
  std::string head;
  uint64_t size = 0;
  uint64_t largest_append = 0;
};

class kept_reader final : public readable_file {
public:
  kept_reader(const kept_file& file, std::string path) : file_(file), path_(std::move(path)) {}
  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return file_.size; }
  status read(uint64_t offset, std::span<std::byte> to) const override {
    if (offset > file_.size || to.size() > file_.size - offset)
      return failure(error_kind::out_of_range, path_, ": too short");
    std::ranges::fill(to, std::byte{});
    if (offset < file_.head.size())
      std::memcpy(to.data(), file_.head.data() + offset,
                  std::min<size_t>(to.size(), file_.head.size() - offset));
    return {};
  }

private:
  const kept_file& file_;
  std::string path_;
};

class kept_writer final : public writable_file {
public:
  kept_writer(kept_file& file, std::string path) : file_(file), path_(std::move(path)) {}
  const std::string& path() const noexcept override { return path_; }
  uint64_t size() const noexcept override { return file_.size; }
  status append(std::span<const std::byte> bytes) override {
    if (file_.head.size() < kept_bytes)
      file_.head.append(reinterpret_cast<const char*>(bytes.data()),
                        std::min(bytes.size(), kept_bytes - file_.head.size()));
    file_.size += bytes.size();
    file_.largest_append = std::max<uint64_t>(file_.largest_append, bytes.size());
    return {};
  }
  status sync() override { return {}; }

private:
  kept_file& file_;
  std::string path_;
};

// A disk with one file, of any name.
class kept_disk final : public file_system {
public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return std::unique_ptr<readable_file>{std::make_unique<kept_reader>(file, path)};
  }
  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    file = {};
    return std::unique_ptr<writable_file>{std::make_unique<kept_writer>(file, path)};
  }
  status sync_folder(const std::string&) override { return {}; }
  status rename(const std::string&, const std::string&) override { return {}; }
  status remove(const std::string&) override { return {}; }
  status make_folder(const std::string&) override { return {}; }
  result<std::vector<file_info>> list(const std::string&) override {
    return std::vector<file_info>{};
  }
  result<file_info> inspect(const std::string&) override { return file_info{}; }
  result<uint64_t> free_space(const std::string&) override { return UINT64_MAX; }

  kept_file file;
};

TEST_CASE("a tensor of more than 4 GiB is written without a copy, and its rows are read",
          "[slow]") {
  constexpr int64_t rows = 5 << 10, row = 1 << 20;
  auto large = tensor::make(dtype::u8, {rows, row}); // pages that are only read take no memory
  REQUIRE(large);
  kept_disk disk;
  auto stored =
      write_safetensors(disk, "x",
                        std::vector<std::pair<std::string, tensor>>{
                            {"large", *large}, {"small", tensor::vector<uint8_t>({0, 0, 0})}});
  REQUIRE(stored);
  CHECK(disk.file.largest_append <= 1 << 20);
  CHECK(stored->at(0).bytes == uint64_t{rows} * row);
  auto reader = safetensors_reader::open(disk, "x");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->find("small")->begin == uint64_t{rows} * row);
  auto last = reader->read_rows("large", rows - 1, 1);
  REQUIRE(last);
  CHECK(last->dims() == shape{1, row});
  CHECK(reader->read("small", stored->at(1).checksum));
  CHECK(*reader->checksum("large") == stored->at(0).checksum);
}

} // namespace
} // namespace troupe::test::large_files_test
