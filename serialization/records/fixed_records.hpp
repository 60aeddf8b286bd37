// Readers of records of a fixed length, and of two such formats: IDX (MNIST) and CIFAR.
#pragma once
#include "troupe/runtime/state/record_reader.hpp"
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/records/streams.hpp"

namespace troupe {

struct fixed_options {
  uint64_t record_bytes = 0;
  uint64_t head_bytes = 0; ///< before the first record
  uint64_t tail_bytes = 0; ///< after the last record
  compression kind = compression::none;
  uint64_t hop_bytes = 0; ///< from the start of a record to the start of the next; 0: record_bytes
};

/// Opens a file of records of a fixed length. Adjacent records must fill the file: fails with
/// data_loss if the size of an uncompressed file is not a multiple of their length. With another
/// hop, trailing bytes that are too few for a record are ignored.
result<std::unique_ptr<record_reader>> open_fixed(file_system& files, const std::string& path,
                                                  const fixed_options& options);

/// An IDX file: an array whose first axis counts items.
struct idx_file {
  dtype type = dtype::none;
  shape item;                           ///< of each item
  int64_t count = 0;                    ///< of items
  std::unique_ptr<record_reader> items; ///< bytes as in the file: big endian
};

/// Opens an IDX file. Detects gzip compression.
result<idx_file> open_idx(file_system& files, const std::string& path);

/// Makes a tensor of the big-endian bytes of an item.
result<tensor> parse_idx_item(std::string_view record, dtype type, const shape& item);

/// Reads a whole IDX file.
result<tensor> read_idx(file_system& files, const std::string& path);

enum class cifar : uint8_t { ten, hundred };

struct cifar_example {
  uint8_t label = 0;
  uint8_t coarse_label = 0; ///< of CIFAR-100
  tensor image;             ///< u8[32,32,3]
};

/// Opens a binary file of CIFAR. A record is one label, or two, and an image of 3 planes.
result<std::unique_ptr<record_reader>> open_cifar(file_system& files, const std::string& path,
                                                  cifar kind = cifar::ten);
result<cifar_example> parse_cifar(std::string_view record, cifar kind = cifar::ten);

} // namespace troupe
