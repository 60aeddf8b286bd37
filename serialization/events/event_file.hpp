// Event files for TensorBoard: TFRecord files of what a training run says of itself.
#pragma once
#include "troupe/runtime/types/tensor.hpp"
#include "troupe/serialization/records/tfrecord.hpp"

#include <variant>

namespace troupe {

/// How often values lie in which range. Range i reaches from limit i - 1 up to limit i, which is
/// not in it.
struct histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits, counts; ///< of the ranges, in ascending order

  bool operator==(const histogram&) const = default;
};

/// Counts the elements of a tensor of real numbers, on the host, in ranges that grow by a tenth.
/// Ranges without values are joined. Fails for values that are not finite.
result<histogram> histogram_of(const tensor& numbers);

struct event_image {
  int32_t width = 0, height = 0, channels = 0;
  std::string png;

  bool operator==(const event_image&) const = default;
};

/// Takes width, height and channels from the head of a PNG file.
result<event_image> event_image_of(std::string png);

struct event_value {
  std::string tag; ///< "loss"; groups are before a '/'
  std::variant<std::monostate, float, histogram, event_image> value = {}; ///< none: unknown to us

  bool operator==(const event_value&) const = default;
};

struct event {
  double seconds = 0; ///< since 1970: the caller's clock
  int64_t step = 0;
  std::vector<event_value> values = {};
  std::string graph_def = {};    ///< the bytes of a GraphDef; an event has it, or values
  std::string file_version = {}; ///< of the first event of a file

  bool operator==(const event&) const = default;
};

std::string write_event(const event& what);
/// The same with values that a step has written as a Summary (ScalarSummary and its like), whatever
/// they are. Fails with invalid_argument for bytes that are none.
result<std::string> write_summary_event(double seconds, int64_t step, std::string_view summary);
/// Fails with data_loss for what is no event. Kinds of events that we do not know are empty. A
/// tensor of one float, as TensorFlow 2 writes scalars, is a float.
result<event> parse_event(std::string_view record);

/// TensorBoard finds files by their names, and a run's later ones by the order of these:
/// "events.out.tfevents.1700000000.host.7".
std::string event_file_name(double seconds, std::string_view host, uint64_t number);

class event_writer {
public:
  /// Makes a file and writes its version.
  static result<event_writer> create(file_system& files, const std::string& path, double seconds);

  status add(const event& what) { return records_.add(write_event(what)); }
  status add(double seconds, int64_t step, std::string_view summary) {
    TROUPE_ASSIGN(auto record, write_summary_event(seconds, step, summary));
    return records_.add(record);
  }
  /// TensorBoard sees all events so far.
  status flush() { return records_.flush(); }
  /// Ends the file, and syncs it.
  status finish() { return records_.finish(); }

private:
  explicit event_writer(tfrecord_writer to) : records_(std::move(to)) {}
  tfrecord_writer records_;
};

} // namespace troupe
