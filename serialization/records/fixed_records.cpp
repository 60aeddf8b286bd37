#include "troupe/serialization/records/fixed_records.hpp"

#include "troupe/serialization/records/stream_records.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

class fixed_records final : public stream_records {
public:
  fixed_records(input_stream stream, uint64_t record_bytes, uint64_t tail_bytes)
      : stream_records(std::move(stream)), record_bytes_(record_bytes), tail_bytes_(tail_bytes) {}

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_TRY(begin_record());
    if (auto left = stream_.left(); left && *left <= tail_bytes_)
      return false;
    TROUPE_TRY(stream_.read(record_bytes_, record));
    if (record.empty())
      return false;
    if (record.size() < record_bytes_)
      return error(error_kind::out_of_range, "the file ends within it: it has ", record.size(),
                   " of ", record_bytes_, " bytes; the file was cut off");
    end_record();
    return true;
  }

private:
  uint64_t record_bytes_, tail_bytes_;
};

// Reads records that overlap, that have gaps between them, or that end before a tail whose offset
// is known only at the end of a compressed stream. Reads ahead by the length of the tail.
class hopping_records final : public record_reader {
public:
  hopping_records(input_stream stream, const fixed_options& options)
      : stream_(std::move(stream)), options_(options),
        hop_(hop_of(options)), position_{options.head_bytes, 0} {}

  static uint64_t hop_of(const fixed_options& options) {
    return options.hop_bytes ? options.hop_bytes : options.record_bytes;
  }

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_ASSIGN(auto has_data, go_to_record());
    if (!has_data)
      return false;
    auto window_bytes = options_.record_bytes + options_.tail_bytes;
    if (window_.size() < window_bytes)
      TROUPE_TRY(stream_.read(window_bytes - window_.size(), window_));
    if (window_.size() < window_bytes) {
      auto left = window_.size() - std::min<uint64_t>(window_.size(), options_.tail_bytes);
      if (left > 0 && hop_ == options_.record_bytes)
        return failure(error_kind::out_of_range, stream_.path(), ": record ", position_.record,
                       " at byte ", position_.byte, ": the file ends within it: it has ", left,
                       " of ", options_.record_bytes, " bytes; the file was cut off");
      return false;
    }
    record.assign(window_, 0, options_.record_bytes);
    auto kept_bytes = window_.size() - std::min<uint64_t>(window_.size(), hop_);
    window_.erase(0, window_.size() - kept_bytes);
    position_ = {position_.byte + hop_, position_.record + 1};
    return true;
  }

  std::string position() const override { return concat(position_.byte, ' ', position_.record); }

  status seek(std::string_view position) override {
    TROUPE_ASSIGN(auto target, file_place::parse(stream_.path(), position));
    window_.clear();
    // The last hop may pass the end of the file.
    TROUPE_TRY(stream_.seek(target.byte - std::min(target.byte, hop_)));
    position_ = target;
    return {};
  }

private:
  // Moves the stream to the end of the window. Returns false if the file ends before it: the last
  // hop may pass the end.
  result<bool> go_to_record() {
    auto target = position_.byte + window_.size();
    if (stream_.offset() > target) { // records overlap, or an earlier call failed
      window_.clear();
      TROUPE_TRY(stream_.seek(position_.byte));
    }
    while (stream_.offset() < target) {
      TROUPE_ASSIGN(auto ahead, stream_.ahead());
      if (ahead.empty())
        return false;
      stream_.skip(
          static_cast<size_t>(std::min<uint64_t>(ahead.size(), target - stream_.offset())));
    }
    return true;
  }

  input_stream stream_;
  fixed_options options_;
  uint64_t hop_;
  file_place position_;
  std::string window_; // the bytes that were read from position_ on
};

// The element type for a type code of IDX.
dtype idx_type(uint8_t code) {
  switch (code) {
    case 0x08: return dtype::u8;
    case 0x09: return dtype::i8;
    case 0x0b: return dtype::i16;
    case 0x0c: return dtype::i32;
    case 0x0d: return dtype::f32;
    case 0x0e: return dtype::f64;
    default: return dtype::none;
  }
}

struct idx_head {
  dtype type = dtype::none;
  shape dims;
  uint64_t bytes = 0; // of the head
};

result<idx_head> read_idx_head(input_stream& stream) {
  auto damaged = [&](const auto&... reason) {
    return failure(error_kind::data_loss, stream.path(), ": is not an IDX file: ", reason...);
  };
  std::string head;
  TROUPE_TRY(stream.read(4, head));
  if (head.size() < 4)
    return damaged("it has ", head.size(), " bytes");
  auto type = idx_type(static_cast<uint8_t>(head[2]));
  auto rank = static_cast<uint8_t>(head[3]);
  if (head[0] != 0 || head[1] != 0 || type == dtype::none || rank == 0 || rank > max_rank)
    return damaged("its first bytes should be 0, 0, a type and a number of axes");
  head.clear();
  TROUPE_TRY(stream.read(uint64_t{4} * rank, head));
  if (head.size() < size_t{4} * rank)
    return damaged("it ends within its shape");
  std::vector<int64_t> extents(rank);
  for (size_t i = 0; i < head.size(); ++i)
    extents[i / 4] = extents[i / 4] << 8 | static_cast<uint8_t>(head[i]);
  auto dims = shape::make(extents);
  if (!dims)
    return damaged(dims.status().message());
  return idx_head{type, *dims, 4 + head.size()};
}

status from_big_endian(std::string_view bytes, tensor& target_tensor) {
  auto element_bytes = size_of(target_tensor.type());
  auto* target = static_cast<char*>(target_tensor.raw());
  if (bytes.size() != target_tensor.bytes())
    return invalid("an item of IDX has ", bytes.size(), " bytes, and ", target_tensor.type(),
                   target_tensor.dims(), " takes ", target_tensor.bytes());
  for (size_t offset = 0; offset < bytes.size(); offset += element_bytes)
    std::reverse_copy(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                      bytes.begin() + static_cast<std::ptrdiff_t>(offset + element_bytes),
                      target + offset);
  return {};
}

constexpr size_t cifar_pixels = 32 * 32, cifar_planes = 3;

size_t cifar_labels(cifar kind) { return kind == cifar::ten ? 1 : 2; }

} // namespace

result<std::unique_ptr<record_reader>> open_fixed(file_system& files, const std::string& path,
                                                  const fixed_options& options) {
  if (options.record_bytes == 0)
    return invalid(path, ": records of 0 bytes would never end");
  auto hops = hopping_records::hop_of(options) != options.record_bytes;
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, options.kind));
  auto left = stream.left();
  if (left) {
    auto outer_bytes = options.head_bytes + options.tail_bytes;
    if (outer_bytes < options.head_bytes || *left < outer_bytes)
      return failure(error_kind::data_loss, path, ": has ", *left, " bytes, fewer than the ",
                     options.head_bytes, " before and the ", options.tail_bytes,
                     " after its records");
    if (!hops && (*left - outer_bytes) % options.record_bytes != 0)
      return failure(error_kind::data_loss, path, ": has ", *left - outer_bytes,
                     " bytes of records, which is not a multiple of ", options.record_bytes,
                     ": the file was cut off, or its records have another length");
  }
  TROUPE_TRY(stream.seek(options.head_bytes));
  if (hops || (!left && options.tail_bytes > 0))
    return std::unique_ptr<record_reader>{
        std::make_unique<hopping_records>(std::move(stream), options)};
  return std::unique_ptr<record_reader>{
      std::make_unique<fixed_records>(std::move(stream), options.record_bytes, options.tail_bytes)};
}

result<idx_file> open_idx(file_system& files, const std::string& path) {
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, compression::automatic));
  TROUPE_ASSIGN(auto head, read_idx_head(stream));
  auto extents = head.dims.extents();
  TROUPE_ASSIGN(auto item, shape::make(extents.subspan(1)));
  auto item_bytes = static_cast<uint64_t>(item.elements()) * size_of(head.type);
  auto count = static_cast<uint64_t>(extents[0]);
  auto left = stream.left();
  if (item_bytes == 0)
    return invalid(path, ": its items ", item, " have no elements");
  if (left && (*left / item_bytes != count || *left % item_bytes != 0))
    return failure(error_kind::data_loss, path, ": its header declares ", count, " items of ",
                   item_bytes, " bytes, but it has ", *left, " bytes",
                   *left / item_bytes < count ? ": the file was cut off" : "");
  idx_file file{head.type, item, extents[0], nullptr};
  file.items = std::make_unique<fixed_records>(std::move(stream), item_bytes, 0);
  return file;
}

result<tensor> parse_idx_item(std::string_view record, dtype type, const shape& item) {
  TROUPE_ASSIGN(auto item_tensor, tensor::make(type, item));
  TROUPE_TRY(from_big_endian(record, item_tensor));
  return item_tensor;
}

result<tensor> read_idx(file_system& files, const std::string& path) {
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, compression::automatic));
  TROUPE_ASSIGN(auto head, read_idx_head(stream));
  auto count = static_cast<uint64_t>(head.dims.elements());
  auto expected_bytes = count * size_of(head.type); // at most 2^62 elements of 8 bytes
  if (count > (uint64_t{1} << 58))
    return failure(error_kind::data_loss, path, ": cannot have ", head.dims, " elements");
  std::string bytes;
  TROUPE_TRY(stream.read(expected_bytes, bytes));
  TROUPE_ASSIGN(auto extra_bytes, stream.ahead());
  if (bytes.size() != expected_bytes || !extra_bytes.empty())
    return failure(error_kind::data_loss, path, ": ", head.type, head.dims, " takes ",
                   expected_bytes, " bytes, but the file has ",
                   extra_bytes.empty() ? "only " : "more than ", bytes.size());
  return parse_idx_item(bytes, head.type, head.dims);
}

result<std::unique_ptr<record_reader>> open_cifar(file_system& files, const std::string& path,
                                                  cifar kind) {
  return open_fixed(files, path,
                    {.record_bytes = cifar_labels(kind) + cifar_pixels * cifar_planes});
}

result<cifar_example> parse_cifar(std::string_view record, cifar kind) {
  const auto label_bytes = cifar_labels(kind);
  if (record.size() != label_bytes + cifar_pixels * cifar_planes)
    return invalid("a record of CIFAR-", kind == cifar::ten ? 10 : 100, " has ",
                   label_bytes + cifar_pixels * cifar_planes, " bytes, not ", record.size());
  cifar_example example;
  example.label = static_cast<uint8_t>(record[label_bytes - 1]);
  if (kind == cifar::hundred)
    example.coarse_label = static_cast<uint8_t>(record[0]);
  TROUPE_ASSIGN(example.image, tensor::make(dtype::u8, {32, 32, cifar_planes}));
  auto* target = example.image.data<uint8_t>();
  for (size_t pixel = 0; pixel < cifar_pixels; ++pixel)
    for (size_t plane = 0; plane < cifar_planes; ++plane)
      *target++ = static_cast<uint8_t>(record[label_bytes + plane * cifar_pixels + pixel]);
  return example;
}

} // namespace troupe
