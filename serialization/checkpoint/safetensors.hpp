// Tensors in the safetensors format (https://github.com/huggingface/safetensors): 8 bytes with the
// length of a header, the header (JSON: types, shapes, offsets), and the elements, little endian,
// without gaps. The files hold data only; reading them runs no code.
//
// Two of Troupe's types are not in the format. They are stored as other types:
//
//     string  U8 [bytes]: the length of each string (u64), then the strings, one after another
//     c128    F64 [elements, 2]
//
// with the type and the shape in the metadata: "troupe.type.NAME": "string[2,3]". Other programs
// read the stored types.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/storage/checksum.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <map>
#include <memory>
#include <optional>

namespace troupe {

using safetensors_metadata = std::map<std::string, std::string>;

/// The maximum length of a header in the format.
inline constexpr uint64_t max_safetensors_header = 100'000'000;

/// The header's entry of a tensor.
struct safetensors_entry {
  std::string name;
  dtype type = dtype::none; ///< none: a type that Troupe does not have, such as F8_E4M3
  shape dims;
  std::string stored_as;       ///< the type's name in the format
  uint64_t begin = 0, end = 0; ///< the range of its bytes, from the end of the header
};

/// Reads a file whose header was checked. Threads may read concurrently.
class safetensors_reader {
public:
  /// Fails with data_loss for a file that is damaged or cut off.
  static result<safetensors_reader> open(file_system& files, const std::string& path);

  const std::string& path() const noexcept { return file_->path(); }
  /// The entries in the order of their bytes.
  std::span<const safetensors_entry> tensors() const noexcept { return entries_; }
  const safetensors_entry* find(std::string_view name) const noexcept;
  /// The metadata without the marks of Troupe's types.
  const safetensors_metadata& metadata() const noexcept { return metadata_; }

  /// Reads a tensor. With a checksum (of its bytes in the file, as a writer returns it), fails with
  /// data_loss if the bytes differ. Fails with not_found for an unknown name, and with
  /// unimplemented for a type that Troupe does not have.
  result<tensor> read(std::string_view name, std::optional<uint64_t> checksum = {},
                      allocator& memory = heap_allocator()) const;

  /// Reads only `count` rows of the first axis, from `first` on.
  result<tensor> read_rows(std::string_view name, int64_t first, int64_t count,
                           allocator& memory = heap_allocator()) const;

  /// Reads a tensor's bytes and returns their checksum.
  result<uint64_t> checksum(std::string_view name) const;

private:
  result<const safetensors_entry*> must_find(std::string_view name) const;
  result<tensor> read_strings(const safetensors_entry& entry, const shape& dims, uint64_t first,
                              std::optional<uint64_t> checksum, allocator& memory) const;
  status read_bytes(const safetensors_entry& entry, uint64_t offset, std::span<std::byte> target,
                    checksum_stream* sum = nullptr) const;
  status check_sum(const safetensors_entry& entry, const checksum_stream& sum,
                   std::optional<uint64_t> expected) const;
  status damaged(const safetensors_entry& entry, std::string_view reason) const;

  std::unique_ptr<readable_file> file_;
  uint64_t data_begin_ = 0;
  std::vector<safetensors_entry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
  safetensors_metadata metadata_;
};

/// A tensor to write.
struct safetensors_item {
  std::string name;
  dtype type = dtype::none;
  shape dims;
  uint64_t text_bytes = 0; ///< of strings: the sum of their lengths

  static safetensors_item of(std::string name, const tensor& value);
};

/// The outcome of writing a tensor.
struct stored_tensor {
  std::string name;
  uint64_t bytes = 0;    ///< in the file
  uint64_t checksum = 0; ///< XXH3 with 64 bits of these bytes
};

/// Writes a file sequentially. No tensor is copied as a whole. The data begins at a multiple of 64
/// bytes, and so do all tensors whose size is a multiple of 64 bytes.
class safetensors_writer {
public:
  /// Writes the header. Fails for duplicate names, names that are not UTF-8 or are "__metadata__",
  /// and for metadata that begins with "troupe.type.".
  static result<safetensors_writer> begin(file_system& files, const std::string& path,
                                          std::vector<safetensors_item> items,
                                          const safetensors_metadata& metadata = {});

  /// The required order of the tensors: by alignment, then by name.
  std::span<const safetensors_item> order() const noexcept { return items_; }

  /// Writes the next tensor. Its type and shape must equal those of its item, and it must be in
  /// host memory.
  status add(const tensor& value);

  /// Syncs the file; fails if tensors are missing. The caller syncs the folder.
  result<std::vector<stored_tensor>> finish();

  uint64_t size() const noexcept { return file_->size(); }

private:
  status add_bytes(std::span<const std::byte> bytes);
  status add_strings(const tensor& value);

  std::unique_ptr<writable_file> file_;
  std::vector<safetensors_item> items_;
  std::vector<stored_tensor> stored_;
  checksum_stream sum_;
};

/// Writes tensors that are all in memory, in any order.
result<std::vector<stored_tensor>>
write_safetensors(file_system& files, const std::string& path,
                  std::span<const std::pair<std::string, tensor>> tensors,
                  const safetensors_metadata& metadata = {});

} // namespace troupe
