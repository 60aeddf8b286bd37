#include "troupe/serialization/events/event_file.hpp"

#include "troupe/serialization/events/event.pb.h"
#include "troupe/serialization/graph_def/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace troupe {
namespace {

constexpr std::string_view first_version = "brain.Event:2"; // readers require it

events::HistogramProto to_proto(const histogram& from) {
  events::HistogramProto proto;
  proto.set_min(from.min);
  proto.set_max(from.max);
  proto.set_num(from.count);
  proto.set_sum(from.sum);
  proto.set_sum_squares(from.sum_squares);
  for (auto limit : from.limits)
    proto.add_bucket_limit(limit);
  for (auto count : from.counts)
    proto.add_bucket(count);
  return proto;
}

histogram read(const events::HistogramProto& from) {
  return {from.min(),
          from.max(),
          from.num(),
          from.sum(),
          from.sum_squares(),
          {from.bucket_limit().begin(), from.bucket_limit().end()},
          {from.bucket().begin(), from.bucket().end()}};
}

events::Summary::Value to_proto(const event_value& from) {
  events::Summary::Value proto;
  proto.set_tag(from.tag);
  if (const auto* number = std::get_if<float>(&from.value)) {
    proto.set_simple_value(*number);
  } else if (const auto* counts = std::get_if<histogram>(&from.value)) {
    *proto.mutable_histo() = to_proto(*counts);
  } else if (const auto* image = std::get_if<event_image>(&from.value)) {
    proto.mutable_image()->set_width(image->width);
    proto.mutable_image()->set_height(image->height);
    proto.mutable_image()->set_colorspace(image->channels);
    proto.mutable_image()->set_encoded_image_string(image->png);
  }
  return proto;
}

// Returns the number of a TensorProto that holds a float scalar; nothing for other bytes.
std::optional<float> scalar_in(const std::string& bytes) {
  graph_def::TensorProto proto;
  graph_def::fill_budget fill_limit{.bytes = sizeof(double)};
  if (bytes.size() > INT32_MAX || !proto.ParseFromString(bytes))
    return {};
  auto value = graph_def::read_tensor(proto, fill_limit);
  if (!value || value->dims().rank() != 0)
    return {};
  switch (value->type()) {
    case dtype::f32: return value->values<float>()[0];
    case dtype::f64: return static_cast<float>(value->values<double>()[0]);
    default: return {};
  }
}

event_value read(const events::Summary::Value& from) {
  event_value converted{from.tag()};
  if (from.has_simple_value())
    converted.value = from.simple_value();
  else if (from.has_histo())
    converted.value = read(from.histo());
  else if (from.has_image())
    converted.value = event_image{from.image().width(), from.image().height(),
                                  from.image().colorspace(), from.image().encoded_image_string()};
  else if (auto number = from.has_tensor() ? scalar_in(from.tensor()) : std::nullopt)
    converted.value = *number;
  return converted;
}

// The upper limits of the ranges above zero.
const std::vector<double>& positive_limits() {
  static const auto limits = [] {
    std::vector<double> values;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
      values.push_back(limit);
    values.push_back(std::numeric_limits<double>::max());
    return values;
  }();
  return limits;
}

class counter {
public:
  bool add(double value) {
    if (!std::isfinite(value))
      return false;
    counted_.min = counted_.count == 0 ? value : std::min(counted_.min, value);
    counted_.max = counted_.count == 0 ? value : std::max(counted_.max, value);
    counted_.count += 1;
    counted_.sum += value;
    counted_.sum_squares += value * value;
    // Below zero, a range excludes its lower limit instead of its upper one; readers accept this.
    const auto& limits = positive_limits();
    auto above = static_cast<size_t>(
        std::upper_bound(limits.begin(), limits.end() - 1, std::abs(value)) - limits.begin());
    ++(value < 0 ? below_ : above_)[above];
    return true;
  }

  histogram finish() {
    const auto& limits = positive_limits();
    for (auto i = limits.size(); i-- > 0;)
      add_range(i == 0 ? 0 : -limits[i - 1], below_[i]);
    for (size_t i = 0; i < limits.size(); ++i)
      add_range(limits[i], above_[i]);
    while (counted_.counts.size() > 1 && counted_.counts.back() == 0) {
      counted_.counts.pop_back();
      counted_.limits.pop_back();
    }
    return std::move(counted_);
  }

private:
  // Adds a range; adjacent ranges without values become one range.
  void add_range(double limit, double count) {
    if (count == 0 && !counted_.counts.empty() && counted_.counts.back() == 0) {
      counted_.limits.back() = limit;
      return;
    }
    counted_.limits.push_back(limit);
    counted_.counts.push_back(count);
  }

  histogram counted_;
  std::vector<double> below_ = std::vector<double>(positive_limits().size());
  std::vector<double> above_ = std::vector<double>(positive_limits().size());
};

template <class T>
result<histogram> count_all(const tensor& numbers) {
  counter counted;
  for (auto number : numbers.values<T>()) {
    double value = 0;
    if constexpr (std::is_arithmetic_v<T>)
      value = static_cast<double>(number);
    else
      value = double{static_cast<float>(number)};
    if (!counted.add(value))
      return invalid("a histogram cannot count ", value, ", which is not finite");
  }
  return counted.finish();
}

uint32_t big_endian(std::string_view bytes, size_t position) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<uint8_t>(bytes[position + i]);
  return number;
}

} // namespace

result<histogram> count_histogram(const tensor& numbers) {
  if (numbers.empty() || !numbers.on_host())
    return invalid("a histogram needs a tensor on the host");
  switch (numbers.type()) {
    case dtype::boolean: return count_all<bool>(numbers);
    case dtype::u8: return count_all<uint8_t>(numbers);
    case dtype::u16: return count_all<uint16_t>(numbers);
    case dtype::u32: return count_all<uint32_t>(numbers);
    case dtype::u64: return count_all<uint64_t>(numbers);
    case dtype::i8: return count_all<int8_t>(numbers);
    case dtype::i16: return count_all<int16_t>(numbers);
    case dtype::i32: return count_all<int32_t>(numbers);
    case dtype::i64: return count_all<int64_t>(numbers);
    case dtype::f16: return count_all<float16>(numbers);
    case dtype::bf16: return count_all<bfloat16>(numbers);
    case dtype::f32: return count_all<float>(numbers);
    case dtype::f64: return count_all<double>(numbers);
    default: return invalid("a histogram cannot count elements of ", numbers.type());
  }
}

result<event_image> parse_png_header(std::string png) {
  constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
  if (png.size() < 26 || !png.starts_with(signature) || png.compare(12, 4, "IHDR") != 0)
    return invalid("an image of an event must be a PNG file");
  event_image image;
  image.width = static_cast<int32_t>(big_endian(png, 16));
  image.height = static_cast<int32_t>(big_endian(png, 20));
  switch (png[25]) { // the colour type
    case 0: image.channels = 1; break;
    case 4: image.channels = 2; break;
    case 2:
    case 3: image.channels = 3; break;
    case 6: image.channels = 4; break;
    default: break;
  }
  if (image.width <= 0 || image.height <= 0 || image.channels == 0)
    return invalid("an image of an event is a damaged PNG file");
  image.png = std::move(png);
  return image;
}

std::string write_event(const event& written_event) {
  events::Event proto;
  proto.set_wall_time(written_event.seconds);
  proto.set_step(written_event.step);
  if (!written_event.file_version.empty())
    proto.set_file_version(written_event.file_version);
  else if (!written_event.graph_def.empty())
    proto.set_graph_def(written_event.graph_def);
  else if (!written_event.values.empty())
    for (const auto& value : written_event.values)
      *proto.mutable_summary()->add_value() = to_proto(value);
  return proto.SerializeAsString();
}

result<std::string> write_summary_event(double seconds, int64_t step, std::string_view summary) {
  events::Event proto;
  proto.set_wall_time(seconds);
  proto.set_step(step);
  if (summary.size() > INT32_MAX / 2 ||
      !proto.mutable_summary()->ParseFromArray(summary.data(), static_cast<int>(summary.size())))
    return invalid(summary.size(), " bytes are no Summary");
  return proto.SerializeAsString();
}

result<event> parse_event(std::string_view record) {
  events::Event proto;
  if (record.size() > INT32_MAX ||
      !proto.ParseFromArray(record.data(), static_cast<int>(record.size())))
    return failure(error_kind::data_loss, "a record of ", record.size(), " bytes is not an event");
  event parsed{.seconds = proto.wall_time(), .step = proto.step()};
  parsed.file_version = proto.file_version();
  parsed.graph_def = proto.graph_def();
  for (const auto& value : proto.summary().value())
    parsed.values.push_back(read(value));
  return parsed;
}

std::string event_file_name(double seconds, std::string_view host, uint64_t number) {
  auto whole_seconds = concat(static_cast<uint64_t>(std::max(0.0, seconds)));
  return concat("events.out.tfevents.",
                std::string(whole_seconds.size() < 10 ? 10 - whole_seconds.size() : 0, '0'),
                whole_seconds, '.', host, '.', number);
}

result<event_writer> event_writer::create(file_system& files, const std::string& path,
                                          double seconds) {
  TROUPE_ASSIGN(auto records, tfrecord_writer::create(files, path));
  event_writer writer{std::move(records)};
  TROUPE_TRY(writer.add({.seconds = seconds, .file_version = std::string{first_version}}));
  TROUPE_TRY(writer.flush());
  return writer;
}

} // namespace troupe
