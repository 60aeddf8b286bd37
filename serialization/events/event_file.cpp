#include "troupe/serialization/events/event_file.hpp"

#include "troupe/serialization/events/event.pb.h"
#include "troupe/serialization/graph_def/values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace troupe {
namespace {

constexpr std::string_view first_version = "brain.Event:2"; // what readers look for

events::HistogramProto written(const histogram& from) {
  events::HistogramProto to;
  to.set_min(from.min);
  to.set_max(from.max);
  to.set_num(from.count);
  to.set_sum(from.sum);
  to.set_sum_squares(from.sum_squares);
  for (auto each : from.limits)
    to.add_bucket_limit(each);
  for (auto each : from.counts)
    to.add_bucket(each);
  return to;
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

events::Summary::Value written(const event_value& from) {
  events::Summary::Value to;
  to.set_tag(from.tag);
  if (const auto* number = std::get_if<float>(&from.value)) {
    to.set_simple_value(*number);
  } else if (const auto* counts = std::get_if<histogram>(&from.value)) {
    *to.mutable_histo() = written(*counts);
  } else if (const auto* image = std::get_if<event_image>(&from.value)) {
    to.mutable_image()->set_width(image->width);
    to.mutable_image()->set_height(image->height);
    to.mutable_image()->set_colorspace(image->channels);
    to.mutable_image()->set_encoded_image_string(image->png);
  }
  return to;
}

// Of a TensorProto that holds a number.
std::optional<float> scalar_in(const std::string& bytes) {
  graph_def::TensorProto from;
  graph_def::fill_budget room{.bytes = sizeof(double)};
  if (bytes.size() > INT32_MAX || !from.ParseFromString(bytes))
    return {};
  auto value = graph_def::read_tensor(from, room);
  if (!value || value->dims().rank() != 0)
    return {};
  switch (value->type()) {
    case dtype::f32: return value->values<float>()[0];
    case dtype::f64: return static_cast<float>(value->values<double>()[0]);
    default: return {};
  }
}

event_value read(const events::Summary::Value& from) {
  event_value to{from.tag()};
  if (from.has_simple_value())
    to.value = from.simple_value();
  else if (from.has_histo())
    to.value = read(from.histo());
  else if (from.has_image())
    to.value = event_image{from.image().width(), from.image().height(), from.image().colorspace(),
                           from.image().encoded_image_string()};
  else if (auto number = from.has_tensor() ? scalar_in(from.tensor()) : std::nullopt)
    to.value = *number;
  return to;
}

// The limits of ranges above zero.
const std::vector<double>& positive_limits() {
  static const auto limits = [] {
    std::vector<double> made;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
      made.push_back(limit);
    made.push_back(std::numeric_limits<double>::max());
    return made;
  }();
  return limits;
}

class counter {
public:
  bool add(double value) {
    if (!std::isfinite(value))
      return false;
    made_.min = made_.count == 0 ? value : std::min(made_.min, value);
    made_.max = made_.count == 0 ? value : std::max(made_.max, value);
    made_.count += 1;
    made_.sum += value;
    made_.sum_squares += value * value;
    // Below zero, the limit that is not in the range is its lower one; no reader minds.
    const auto& limits = positive_limits();
    auto above = static_cast<size_t>(
        std::upper_bound(limits.begin(), limits.end() - 1, std::abs(value)) - limits.begin());
    ++(value < 0 ? below_ : above_)[above];
    return true;
  }

  histogram finish() {
    const auto& limits = positive_limits();
    for (auto i = limits.size(); i-- > 0;)
      range(i == 0 ? 0 : -limits[i - 1], below_[i]);
    for (size_t i = 0; i < limits.size(); ++i)
      range(limits[i], above_[i]);
    while (made_.counts.size() > 1 && made_.counts.back() == 0) {
      made_.counts.pop_back();
      made_.limits.pop_back();
    }
    return std::move(made_);
  }

private:
  // Ranges without values become one.
  void range(double limit, double count) {
    if (count == 0 && !made_.counts.empty() && made_.counts.back() == 0) {
      made_.limits.back() = limit;
      return;
    }
    made_.limits.push_back(limit);
    made_.counts.push_back(count);
  }

  histogram made_;
  std::vector<double> below_ = std::vector<double>(positive_limits().size());
  std::vector<double> above_ = std::vector<double>(positive_limits().size());
};

template <class T>
result<histogram> count_all(const tensor& numbers) {
  counter all;
  for (auto each : numbers.values<T>()) {
    double value = 0;
    if constexpr (std::is_arithmetic_v<T>)
      value = static_cast<double>(each);
    else
      value = double{static_cast<float>(each)};
    if (!all.add(value))
      return invalid("a histogram cannot count ", value, ", which is not finite");
  }
  return all.finish();
}

uint32_t big_endian(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

} // namespace

result<histogram> histogram_of(const tensor& numbers) {
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

result<event_image> event_image_of(std::string png) {
  constexpr std::string_view head = "\x89PNG\r\n\x1a\n";
  if (png.size() < 26 || !png.starts_with(head) || png.compare(12, 4, "IHDR") != 0)
    return invalid("an image of an event must be a PNG file");
  event_image made;
  made.width = static_cast<int32_t>(big_endian(png, 16));
  made.height = static_cast<int32_t>(big_endian(png, 20));
  switch (png[25]) { // the colour type
    case 0: made.channels = 1; break;
    case 4: made.channels = 2; break;
    case 2:
    case 3: made.channels = 3; break;
    case 6: made.channels = 4; break;
    default: break;
  }
  if (made.width <= 0 || made.height <= 0 || made.channels == 0)
    return invalid("an image of an event is a damaged PNG file");
  made.png = std::move(png);
  return made;
}

std::string write_event(const event& what) {
  events::Event to;
  to.set_wall_time(what.seconds);
  to.set_step(what.step);
  if (!what.file_version.empty())
    to.set_file_version(what.file_version);
  else if (!what.graph_def.empty())
    to.set_graph_def(what.graph_def);
  else if (!what.values.empty())
    for (const auto& each : what.values)
      *to.mutable_summary()->add_value() = written(each);
  return to.SerializeAsString();
}

result<std::string> write_summary_event(double seconds, int64_t step, std::string_view summary) {
  events::Event to;
  to.set_wall_time(seconds);
  to.set_step(step);
  if (summary.size() > INT32_MAX / 2 ||
      !to.mutable_summary()->ParseFromArray(summary.data(), static_cast<int>(summary.size())))
    return invalid(summary.size(), " bytes are no Summary");
  return to.SerializeAsString();
}

result<event> parse_event(std::string_view record) {
  events::Event from;
  if (record.size() > INT32_MAX ||
      !from.ParseFromArray(record.data(), static_cast<int>(record.size())))
    return failure(error_kind::data_loss, "a record of ", record.size(), " bytes is no event");
  event made{.seconds = from.wall_time(), .step = from.step()};
  made.file_version = from.file_version();
  made.graph_def = from.graph_def();
  for (const auto& each : from.summary().value())
    made.values.push_back(read(each));
  return made;
}

std::string event_file_name(double seconds, std::string_view host, uint64_t number) {
  auto whole = concat(static_cast<uint64_t>(std::max(0.0, seconds)));
  return concat("events.out.tfevents.", std::string(whole.size() < 10 ? 10 - whole.size() : 0, '0'),
                whole, '.', host, '.', number);
}

result<event_writer> event_writer::create(file_system& files, const std::string& path,
                                          double seconds) {
  TROUPE_ASSIGN(auto records, tfrecord_writer::create(files, path));
  event_writer made{std::move(records)};
  TROUPE_TRY(made.add({.seconds = seconds, .file_version = std::string{first_version}}));
  TROUPE_TRY(made.flush());
  return made;
}

} // namespace troupe
