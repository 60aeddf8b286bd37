// Reading, writing and matching of whole files, by the file threads of their task.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/state/file_requests.hpp"

namespace troupe::ops::files_op {
namespace {

result<std::unique_ptr<waitable_resource>> make(const node&, std::string name) {
  return std::unique_ptr<waitable_resource>{std::make_unique<file_requests>(std::move(name))};
}

file_requests& as_requests(waitable_resource& resource) {
  return static_cast<file_requests&>(resource);
}

const std::string& text(const question& request, size_t input) {
  return *request.inputs.at(input).data<std::string>();
}

// Checks shapes that were unknown when the graph was built.
bool are_scalars(const question& request, answers& done) {
  for (const auto& input : request.inputs)
    if (input.rank() != 0) {
      done.push_back({request.id, invalid("expected a scalar, got ", input.dims())});
      return false;
    }
  return true;
}

void ask_read(waitable_resource& resource, question&& request, answers& done) {
  if (are_scalars(request, done))
    as_requests(resource).read(request.id, text(request, 0));
}

void ask_write(waitable_resource& resource, question&& request, answers& done) {
  if (are_scalars(request, done))
    as_requests(resource).write(request.id, text(request, 0), text(request, 1));
}

void ask_match(waitable_resource& resource, question&& request, answers& done) {
  const auto& patterns = request.inputs.at(0);
  if (patterns.rank() > 1) {
    done.push_back(
        {request.id, invalid("pattern must be a scalar or a vector, got ", patterns.dims())});
    return;
  }
  auto pattern_list = patterns.values<std::string>();
  as_requests(resource).match(request.id, {pattern_list.begin(), pattern_list.end()});
}

status check_scalars(const infer_context& at) {
  for (int i = 0; i < at.inputs(); ++i)
    if (at.input(i).has_rank() && at.input(i).rank() != 0)
      return at.invalid("input ", i, " must be a scalar, got ", at.input(i));
  return {};
}

result<shapes> infer_read(const infer_context& at) {
  TROUPE_TRY(check_scalars(at));
  return shapes{shape{}};
}

result<shapes> infer_write(const infer_context& at) {
  TROUPE_TRY(check_scalars(at));
  return shapes{};
}

result<shapes> infer_match(const infer_context& at) {
  if (at.input(0).has_rank() && at.input(0).rank() > 1)
    return at.invalid("pattern must be a scalar or a vector, got ", at.input(0));
  return shapes{partial_shape::of_rank(1)};
}

} // namespace

extern constexpr op_def read_file{
    .name = "ReadFile",
    .doc = "Reads a whole file of the task that runs the node.",
    .inputs = {{"filename", "string"}},
    .outputs = {{"contents", "string"}},
    .effects = effect::stateful | effect::blocking,
    .state_kind = resource::files,
    .make_waitable_resource = make,
    .start_operation = ask_read,
    .infer = infer_read,
    .no_gradient = "files do not carry gradients",
    .example = R"(
x = ReadFile(string("no such folder/a.txt"))
fetch x
error not_found "no such folder/a.txt"
)",
};

extern constexpr op_def write_file{
    .name = "WriteFile",
    .doc = "Writes a file, in place of one that was there, on the task that runs the node; makes "
           "folders that are missing.\n\n"
           "Whatever crashes, the name means the whole old content or the whole new.",
    .inputs = {{"filename", "string"}, {"contents", "string"}},
    .effects = effect::stateful | effect::blocking,
    .state_kind = resource::files,
    .make_waitable_resource = make,
    .start_operation = ask_write,
    .infer = infer_write,
    .no_gradient = "files do not carry gradients",
    .example = R"(
x = WriteFile(string("/dev/null/a.txt"), string("content"))
target x
error already_exists "/dev/null"
)",
};

extern constexpr op_def matching_files{
    .name = "MatchingFiles",
    .doc = "Lists the files whose paths fit a pattern, or any of several, in order.\n\n"
           "`*`, `?` and `[a-z]` stand for what they do in a shell, within a name. They are looked "
           "for on the task that runs the node.",
    .inputs = {{"pattern", "string"}},
    .outputs = {{"filenames", "string"}},
    .effects = effect::stateful | effect::blocking,
    .state_kind = resource::files,
    .make_waitable_resource = make,
    .start_operation = ask_match,
    .infer = infer_match,
    .no_gradient = "files do not carry gradients",
    .example = R"(
x = MatchingFiles(string("no such folder/*.png"))
fetch x = string{0}[]
)",
};

} // namespace troupe::ops::files_op
