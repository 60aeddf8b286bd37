// Readers: state that takes file names from a queue and returns the files' records.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/file_reader.hpp"
#include "troupe/runtime/state/saved_state.hpp"

namespace troupe::ops::readers_op {
namespace {

file_reader& as_reader(waitable_resource& resource) { return static_cast<file_reader&>(resource); }

result<std::unique_ptr<waitable_resource>> make_reader(std::string name, record_layout layout) {
  return std::unique_ptr<waitable_resource>{
      std::make_unique<file_reader>(std::move(name), std::move(layout))};
}

result<std::unique_ptr<waitable_resource>> make_whole_file(const node&, std::string name) {
  return make_reader(std::move(name), {.format = record_format::whole});
}

result<std::unique_ptr<waitable_resource>> make_identity(const node&, std::string name) {
  return make_reader(std::move(name), {.format = record_format::none});
}

result<std::unique_ptr<waitable_resource>> make_text_line(const node& from_node, std::string name) {
  return make_reader(std::move(name), {.format = record_format::line,
                                       .skip_lines = from_node.attr<int64_t>("skip_header_lines")});
}

result<std::unique_ptr<waitable_resource>> make_tfrecord(const node& from_node, std::string name) {
  return make_reader(std::move(name),
                     {.format = record_format::tfrecord,
                      .compression = from_node.attr<std::string>("compression_type")});
}

result<std::unique_ptr<waitable_resource>> make_fixed(const node& from_node, std::string name) {
  return make_reader(std::move(name), {.format = record_format::fixed,
                                       .compression = from_node.attr<std::string>("encoding"),
                                       .head_bytes = from_node.attr<int64_t>("header_bytes"),
                                       .tail_bytes = from_node.attr<int64_t>("footer_bytes"),
                                       .record_bytes = from_node.attr<int64_t>("record_bytes"),
                                       .hop_bytes = from_node.attr<int64_t>("hop_bytes")});
}

status check_compression(const infer_context& at, std::string_view attr) {
  const auto& name = at.attr<std::string>(attr);
  if (name.empty() || name == "ZLIB" || name == "GZIP")
    return {};
  return at.invalid(attr, " must be \"\", \"ZLIB\" or \"GZIP\", got \"", name, '"');
}

result<shapes> infer_text_line(const infer_context& at) {
  if (at.attr<int64_t>("skip_header_lines") < 0)
    return at.invalid("skip_header_lines must not be negative, got ",
                      at.attr<int64_t>("skip_header_lines"));
  return shapes{shape{}};
}

result<shapes> infer_tfrecord(const infer_context& at) {
  TROUPE_TRY(check_compression(at, "compression_type"));
  return shapes{shape{}};
}

result<shapes> infer_fixed(const infer_context& at) {
  if (at.attr<int64_t>("record_bytes") < 1)
    return at.invalid("record_bytes must be positive, got ", at.attr<int64_t>("record_bytes"));
  for (auto attr : {"header_bytes", "footer_bytes", "hop_bytes"})
    if (at.attr<int64_t>(attr) < 0)
      return at.invalid(attr, " must not be negative, got ", at.attr<int64_t>(attr));
  TROUPE_TRY(check_compression(at, "encoding"));
  return shapes{shape{}};
}

// The queue must hold scalar strings, as far as its components are known.
status check_queue(const infer_context& at) {
  const auto* queue = at.resource(1);
  if (!queue || !queue->op().make_waitable_resource || queue->op().state_kind != resource::queue)
    return {};
  const auto& types = queue->attr<std::vector<dtype>>("component_types");
  if (types != std::vector{dtype::string})
    return at.invalid("queue '", queue->name(),
                      "' must hold names of files: elements of one string component");
  const auto& dims = queue->attr<std::vector<partial_shape>>("shapes");
  if (!dims.empty() && !dims[0].compatible(shape{}))
    return at.invalid("queue '", queue->name(), "' must hold names of files: scalars, not ",
                      dims[0]);
  return {};
}

result<shapes> infer_read(const infer_context& at) {
  TROUPE_TRY(check_queue(at));
  return shapes{shape{}, shape{}};
}

result<shapes> infer_read_up_to(const infer_context& at) {
  TROUPE_TRY(check_queue(at));
  if (at.input(2).has_rank() && at.input(2).rank() != 0)
    return at.invalid("num_records must be a scalar, got ", at.input(2));
  return shapes{partial_shape::of_rank(1), partial_shape::of_rank(1)};
}

bool goes_back(const question& request) {
  return !request.origin->attr<bool>("drop_if_step_fails");
}

void ask_read(waitable_resource& resource, question&& request, answers& done) {
  as_reader(resource).read(request.id, {.return_on_failure = goes_back(request)}, done);
}

void ask_read_up_to(waitable_resource& resource, question&& request, answers& done) {
  const auto& count = request.inputs.at(0);
  if (count.rank() != 0)
    done.push_back({request.id, invalid("num_records must be a scalar, got ", count.dims())});
  else
    as_reader(resource).read(request.id,
                             {.count = *count.data<int64_t>(),
                              .as_batch = true,
                              .return_on_failure = goes_back(request)},
                             done);
}

void ask_records(waitable_resource& resource, question&& request, answers& done) {
  done.push_back({request.id, {}, {tensor::scalar(as_reader(resource).records_produced())}});
}

void ask_work_units(waitable_resource& resource, question&& request, answers& done) {
  done.push_back({request.id, {}, {tensor::scalar(as_reader(resource).work_units_completed())}});
}

void ask_state(waitable_resource& resource, question&& request, answers& done) {
  answer_with_state(as_reader(resource), request, done);
}

void ask_restore(waitable_resource& resource, question&& request, answers& done) {
  restore_state(as_reader(resource), request, done);
}

void ask_reset(waitable_resource& resource, question&& request, answers& done) {
  as_reader(resource).rewind(done);
  done.push_back({request.id, {}});
}

constexpr std::string_view no_gradient = "readers do not carry gradients";
constexpr port out = ref("reader_handle", "string", resource::reader);
constexpr port queue = ref("queue_handle", "string", resource::queue);

// An op that makes a reader; the attributes common to all readers follow its own.
struct form {
  std::string_view name, also, doc;
  result<std::unique_ptr<waitable_resource>> (*make)(const node& from_node, std::string name);
  result<shapes> (*infer)(const infer_context&) = infer::scalar;
  attr_list attrs = {};
};

constexpr op_def reader_of(const form& reader_form, std::string_view example) {
  op_def make_reader{.name = reader_form.name,
                     .second_name = reader_form.also,
                     .doc = reader_form.doc,
                     .outputs = {out},
                     .attrs = reader_form.attrs,
                     .effects = effect::stateful,
                     .state_kind = resource::reader,
                     .make_waitable_resource = reader_form.make,
                     .infer = reader_form.infer,
                     .no_gradient = no_gradient,
                     .example = example};
  make_reader.attrs.push_back({"container", ""});
  make_reader.attrs.push_back({"shared_name", ""});
  return make_reader;
}

} // namespace

extern constexpr op_def whole_file_reader = reader_of(
    {"WholeFileReader", "WholeFileReaderV2",
     "Gives the bytes of each file as one record, under the file's name.\n\n"
     "The reader lives in the named container of its task, under shared_name or else the node's "
     "name; nodes of the same name share it.",
     make_whole_file},
    R"(
r = WholeFileReader
count = ReaderNumRecordsProduced(r)
fetch count = i64(0)
)");

extern constexpr op_def text_line_reader =
    reader_of({"TextLineReader",
               "TextLineReaderV2",
               "Gives the lines of files, without their ends.\n\n"
               "A key is the file's name and the number of the line, from 1: \"a.txt:1\". Lives as "
               "WholeFileReader does.",
               make_text_line,
               infer_text_line,
               {{"skip_header_lines", 0}}},
              R"(
r = TextLineReader skip_header_lines=1
count = ReaderNumRecordsProduced(r)
fetch count = i64(0)
)");

extern constexpr op_def fixed_length_record_reader = reader_of(
    {"FixedLengthRecordReader",
     "FixedLengthRecordReaderV2",
     "Gives records of `record_bytes` bytes.\n\n"
     "They begin behind `header_bytes`, each `hop_bytes` behind the one before (0: record_bytes), "
     "and end before the last `footer_bytes` of the file. A key is the file's name and the number "
     "of the record, from 0: \"a.bin:0\". `encoding` says how the file is compressed: \"\", "
     "\"ZLIB\" or \"GZIP\". Fails with data_loss where records that follow each other leave bytes "
     "over; TensorFlow drops those.",
     make_fixed,
     infer_fixed,
     {{"header_bytes", 0},
      {"record_bytes", attr_kind::integer},
      {"footer_bytes", 0},
      {"hop_bytes", 0},
      {"encoding", ""}}},
    R"(
r = FixedLengthRecordReader record_bytes=785
count = ReaderNumRecordsProduced(r)
fetch count = i64(0)
)");

extern constexpr op_def tfrecord_reader = reader_of(
    {"TFRecordReader",
     "TFRecordReaderV2",
     "Gives the records of TFRecord files.\n\n"
     "A key is the file's name and the byte at which the record begins, before "
     "compression: \"a.tfrecord:0\". A record that is damaged is an error, data_loss; the "
     "next read goes on behind it, if its length is intact.",
     make_tfrecord,
     infer_tfrecord,
     {{"compression_type", ""}}},
    R"(
r = TFRecordReader compression_type="GZIP"
count = ReaderNumRecordsProduced(r)
fetch count = i64(0)
)");

extern constexpr op_def identity_reader =
    reader_of({"IdentityReader", "IdentityReaderV2",
               "Gives the names that it takes from the queue as keys and as values, and reads no "
               "file.",
               make_identity},
              R"(
q = FIFOQueue component_types=[string] shapes=[[]]
put = QueueEnqueue(q, string("a.png"))
r = IdentityReader
next = ReaderRead(r, q)
target put
run
fetch next:1 = string("a.png")
)");

extern constexpr op_def reader_read{
    .name = "ReaderRead",
    .second_name = "ReaderReadV2",
    .doc = "Gives the next record of a reader, which takes the name of another file from the queue "
           "where it needs one.\n\n"
           "Waits for the name, and fails with out_of_range when the queue is closed and empty. "
           "The record goes back if the step fails later, unless `drop_if_step_fails`; the name of "
           "a file that was begun does not.",
    .inputs = {out, queue},
    .outputs = {{"key", "string"}, {"value", "string"}},
    .attrs = {{"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_read,
    .returns_answer_on_failure = true,
    .infer = infer_read,
    .no_gradient = no_gradient,
    .example = R"(
q = FIFOQueue component_types=[string] shapes=[[]]
put = QueueEnqueueMany(q, string["a", "b"])
r = IdentityReader
next = ReaderRead(r, q)
target put
run
fetch next:0 = string("a")
run
fetch next:0 = string("b")
)",
};

extern constexpr op_def reader_read_up_to{
    .name = "ReaderReadUpTo",
    .second_name = "ReaderReadUpToV2",
    .doc = "Gives up to `num_records` next records of a reader: all of one file, and fewer only "
           "where it ends.\n\n"
           "Else like ReaderRead.",
    .inputs = {out, queue, on_host("num_records", "i64")},
    .outputs = {{"keys", "string"}, {"values", "string"}},
    .attrs = {{"drop_if_step_fails", false}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_read_up_to,
    .returns_answer_on_failure = true,
    .infer = infer_read_up_to,
    .no_gradient = no_gradient,
    .example = R"(
q = FIFOQueue component_types=[string] shapes=[[]]
put = QueueEnqueueMany(q, string["a", "b"])
r = IdentityReader
next = ReaderReadUpTo(r, q, i64(2))
target put
run
fetch next:0 = string["a"]
)",
};

extern constexpr op_def reader_num_records_produced{
    .name = "ReaderNumRecordsProduced",
    .second_name = "ReaderNumRecordsProducedV2",
    .doc = "Counts the records that a reader has given, without those that went back.",
    .inputs = {out},
    .outputs = {{"records_produced", "i64"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_records,
    .infer = infer::scalar,
    .no_gradient = no_gradient,
    .example = R"(
r = IdentityReader
count = ReaderNumRecordsProduced(r)
fetch count = i64(0)
)",
};

extern constexpr op_def reader_num_work_units_completed{
    .name = "ReaderNumWorkUnitsCompleted",
    .second_name = "ReaderNumWorkUnitsCompletedV2",
    .doc = "Counts the files whose end a reader has come to.",
    .inputs = {out},
    .outputs = {{"units_completed", "i64"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_work_units,
    .infer = infer::scalar,
    .no_gradient = no_gradient,
    .example = R"(
r = IdentityReader
count = ReaderNumWorkUnitsCompleted(r)
fetch count = i64(0)
)",
};

extern constexpr op_def reader_serialize_state{
    .name = "ReaderSerializeState",
    .second_name = "ReaderSerializeStateV2",
    .doc = "Gives the place at which a reader stands, for ReaderRestoreState.\n\n"
           "Readers of all kinds have one; in TensorFlow, only IdentityReader does.",
    .inputs = {out},
    .outputs = {{"state", "string"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_state,
    .infer = infer::scalar,
    .no_gradient = no_gradient,
    .example = R"(
r = IdentityReader
state = ReaderSerializeState(r)
fetch state = string("")
)",
};

extern constexpr op_def reader_restore_state{
    .name = "ReaderRestoreState",
    .second_name = "ReaderRestoreStateV2",
    .doc = "Brings a reader to the place at which another one, of the same kind, has stood.\n\n"
           "The file that it stood in is opened by the next read. Names of files that the queue "
           "has given already do not come again.",
    .inputs = {out, {"state", "string"}},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_restore,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
    .example = R"(
r = IdentityReader
state = ReaderSerializeState(r)
again = IdentityReader
restore = ReaderRestoreState(again, state)
target restore
)",
};

extern constexpr op_def reader_reset{
    .name = "ReaderReset",
    .second_name = "ReaderResetV2",
    .doc = "Makes a reader as new: it leaves its file, and counts from 0.",
    .inputs = {out},
    .effects = effect::stateful | effect::blocking,
    .start_operation = ask_reset,
    .infer = infer::nothing,
    .no_gradient = no_gradient,
    .example = R"(
r = IdentityReader
reset = ReaderReset(r)
target reset
)",
};

} // namespace troupe::ops::readers_op
