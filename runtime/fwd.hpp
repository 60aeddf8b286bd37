// Forward declarations of the most used types in runtime/.
#pragma once
#include <cstdint>

namespace troupe {

enum class dtype : uint8_t;
enum class error_kind : uint8_t;
class allocator;
class attr_value;
class buffer;
class container;
class device;
class gradient_context;
class graph;
class infer_context;
class instance;
class kernel_context;
class named_state;
class node;
class partial_shape;
class program;
class registry;
class rewriter;
class shape;
class simplify_context;
class status;
class tensor;
class variable;
struct attr_def;
struct edge;
struct kernel_def;
struct op_def;
struct token;
template <class T>
class result;

} // namespace troupe
