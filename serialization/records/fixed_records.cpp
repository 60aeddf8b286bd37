#include "troupe/serialization/records/fixed_records.hpp"

#include "troupe/serialization/records/stream_records.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

class fixed_records final : public stream_records {
public:
  fixed_records(input_stream from, uint64_t record_bytes, uint64_t tail_bytes)
      : stream_records(std::move(from)), record_bytes_(record_bytes), tail_bytes_(tail_bytes) {}

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_TRY(begin_record());
    if (auto left = stream_.left(); left && *left <= tail_bytes_)
      return false;
    TROUPE_TRY(stream_.read(record_bytes_, record));
    if (record.empty())
      return false;
    if (record.size() < record_bytes_)
      return error(error_kind::out_of_range, "the file ends within it: ", record.size(), " of ",
                   record_bytes_, " bytes are there; it was cut off");
    end_record();
    return true;
  }

private:
  uint64_t record_bytes_, tail_bytes_;
};

// Records that overlap, that leave bytes out, or that end before a tail whose place is known only
// at the end of what is compressed: reads ahead what may be the tail.
class hopping_records final : public record_reader {
public:
  hopping_records(input_stream from, const fixed_options& options)
      : stream_(std::move(from)), options_(options),
        hop_(hop_of(options)), at_{options.head_bytes, 0} {}

  static uint64_t hop_of(const fixed_options& options) {
    return options.hop_bytes ? options.hop_bytes : options.record_bytes;
  }

  result<bool> next(std::string& record) override {
    record.clear();
    TROUPE_ASSIGN(auto there, go_to_record());
    if (!there)
      return false;
    auto wanted = options_.record_bytes + options_.tail_bytes;
    if (window_.size() < wanted)
      TROUPE_TRY(stream_.read(wanted - window_.size(), window_));
    if (window_.size() < wanted) {
      auto left = window_.size() - std::min<uint64_t>(window_.size(), options_.tail_bytes);
      if (left > 0 && hop_ == options_.record_bytes)
        return failure(error_kind::out_of_range, stream_.path(), ": record ", at_.record,
                       " at byte ", at_.byte, ": the file ends within it: ", left, " of ",
                       options_.record_bytes, " bytes are there; it was cut off");
      return false;
    }
    record.assign(window_, 0, options_.record_bytes);
    auto kept = window_.size() - std::min<uint64_t>(window_.size(), hop_);
    window_.erase(0, window_.size() - kept);
    at_ = {at_.byte + hop_, at_.record + 1};
    return true;
  }

  std::string position() const override { return concat(at_.byte, ' ', at_.record); }

  status seek(std::string_view position) override {
    TROUPE_ASSIGN(auto to, file_place::parse(stream_.path(), position));
    window_.clear();
    // The last hop may go over the end.
    TROUPE_TRY(stream_.seek(to.byte - std::min(to.byte, hop_)));
    at_ = to;
    return {};
  }

private:
  // Brings the stream behind the window. False where the file ends before: the last hop goes over
  // its end.
  result<bool> go_to_record() {
    auto target = at_.byte + window_.size();
    if (stream_.offset() > target) { // a jump back, or a failure halfway
      window_.clear();
      TROUPE_TRY(stream_.seek(at_.byte));
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
  file_place at_;
  std::string window_; // from at_, as far as it was read
};

// The types of IDX.
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
  auto damaged = [&](const auto&... why) {
    return failure(error_kind::data_loss, stream.path(), ": is no IDX file: ", why...);
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

status from_big_endian(std::string_view bytes, tensor& to) {
  auto each = size_of(to.type());
  auto* target = static_cast<char*>(to.raw());
  if (bytes.size() != to.bytes())
    return invalid("an item of IDX has ", bytes.size(), " bytes, and ", to.type(), to.dims(),
                   " takes ", to.bytes());
  for (size_t at = 0; at < bytes.size(); at += each)
    std::reverse_copy(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at + each), target + at);
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
    auto around = options.head_bytes + options.tail_bytes;
    if (around < options.head_bytes || *left < around)
      return failure(error_kind::data_loss, path, ": has ", *left, " bytes, fewer than the ",
                     options.head_bytes, " before and the ", options.tail_bytes,
                     " behind its records");
    if (!hops && (*left - around) % options.record_bytes != 0)
      return failure(error_kind::data_loss, path, ": has ", *left - around,
                     " bytes of records, which is no multiple of ", options.record_bytes,
                     ": it was cut off, or has other records");
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
  auto each = static_cast<uint64_t>(item.elements()) * size_of(head.type);
  auto count = static_cast<uint64_t>(extents[0]);
  auto left = stream.left();
  if (each == 0)
    return invalid(path, ": its items ", item, " have no elements");
  if (left && (*left / each != count || *left % each != 0))
    return failure(error_kind::data_loss, path, ": is said to have ", count, " items of ", each,
                   " bytes, and has ", *left, " bytes",
                   *left / each < count ? ": it was cut off" : "");
  idx_file made{head.type, item, extents[0], nullptr};
  made.items = std::make_unique<fixed_records>(std::move(stream), each, 0);
  return made;
}

result<tensor> parse_idx_item(std::string_view record, dtype type, const shape& item) {
  TROUPE_ASSIGN(auto made, tensor::make(type, item));
  TROUPE_TRY(from_big_endian(record, made));
  return made;
}

result<tensor> read_idx(file_system& files, const std::string& path) {
  TROUPE_ASSIGN(auto stream, input_stream::open(files, path, compression::automatic));
  TROUPE_ASSIGN(auto head, read_idx_head(stream));
  auto count = static_cast<uint64_t>(head.dims.elements());
  auto wanted = count * size_of(head.type); // at most 2^62 elements of 8 bytes
  if (count > (uint64_t{1} << 58))
    return failure(error_kind::data_loss, path, ": cannot have ", head.dims, " elements");
  std::string bytes;
  TROUPE_TRY(stream.read(wanted, bytes));
  TROUPE_ASSIGN(auto more, stream.ahead());
  if (bytes.size() != wanted || !more.empty())
    return failure(error_kind::data_loss, path, ": ", head.type, head.dims, " takes ", wanted,
                   " bytes, and there are ", more.empty() ? "only " : "more than ", bytes.size());
  return parse_idx_item(bytes, head.type, head.dims);
}

result<std::unique_ptr<record_reader>> open_cifar(file_system& files, const std::string& path,
                                                  cifar kind) {
  return open_fixed(files, path,
                    {.record_bytes = cifar_labels(kind) + cifar_pixels * cifar_planes});
}

result<cifar_example> parse_cifar(std::string_view record, cifar kind) {
  const auto labels = cifar_labels(kind);
  if (record.size() != labels + cifar_pixels * cifar_planes)
    return invalid("a record of CIFAR-", kind == cifar::ten ? 10 : 100, " has ",
                   labels + cifar_pixels * cifar_planes, " bytes, not ", record.size());
  cifar_example made;
  made.label = static_cast<uint8_t>(record[labels - 1]);
  if (kind == cifar::hundred)
    made.coarse_label = static_cast<uint8_t>(record[0]);
  TROUPE_ASSIGN(made.image, tensor::make(dtype::u8, {32, 32, cifar_planes}));
  auto* to = made.image.data<uint8_t>();
  for (size_t pixel = 0; pixel < cifar_pixels; ++pixel)
    for (size_t plane = 0; plane < cifar_planes; ++plane)
      *to++ = static_cast<uint8_t>(record[labels + plane * cifar_pixels + pixel]);
  return made;
}

} // namespace troupe
