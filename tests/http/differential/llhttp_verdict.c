/* tests/http/differential/llhttp_verdict.c: how llhttp parses streams of requests, see verdict.cpp.
   differential_test.py compiles it with the sources that the package node-llhttp installs. */
#include <llhttp.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
  char* bytes;
  size_t size;
  size_t capacity;
};

struct request {
  struct text method, target, body, fields, name, value;
  size_t head_fields; /* bytes of `fields` that belong to the head */
  int in_value;
  int begun;
};

static struct request now;
static int first;

static void append(struct text* out, const char* bytes, size_t size) {
  if (out->size + size > out->capacity) {
    out->capacity = 2 * (out->size + size) + 64;
    out->bytes = realloc(out->bytes, out->capacity);
    if (out->bytes == NULL) exit(1);
  }
  if (size > 0) memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
}
static void append_word(struct text* out, const char* word) { append(out, word, strlen(word)); }
static void append_hex(struct text* out, const struct text* in) {
  append_word(out, "\"");
  for (size_t i = 0; i < in->size; ++i) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", (unsigned char)in->bytes[i]);
    append(out, digits, 2);
  }
  append_word(out, "\"");
}
static void print(const struct text* in, size_t begin, size_t end) {
  if (end > begin) fwrite(in->bytes + begin, 1, end - begin, stdout);
}

static void end_field(void) {
  if (!now.in_value) return;
  append_word(&now.fields, now.fields.size == now.head_fields ? "[" : ", [");
  append_hex(&now.fields, &now.name);
  append_word(&now.fields, ", ");
  append_hex(&now.fields, &now.value);
  append_word(&now.fields, "]");
  now.name.size = now.value.size = 0;
  now.in_value = 0;
}

static int on_begin(llhttp_t* parser) {
  (void)parser;
  now.method.size = now.target.size = now.body.size = now.fields.size = now.name.size = now.value.size = 0;
  now.head_fields = 0;
  now.in_value = 0;
  now.begun = 1;
  return 0;
}
static int on_url(llhttp_t* parser, const char* at, size_t size) {
  (void)parser;
  append(&now.target, at, size);
  return 0;
}
static int on_field(llhttp_t* parser, const char* at, size_t size) {
  (void)parser;
  end_field();
  append(&now.name, at, size);
  return 0;
}
static int on_value(llhttp_t* parser, const char* at, size_t size) {
  (void)parser;
  now.in_value = 1;
  append(&now.value, at, size);
  return 0;
}
static int on_value_end(llhttp_t* parser) {
  (void)parser;
  now.in_value = 1;
  end_field();
  return 0;
}
static int on_head(llhttp_t* parser) {
  append_word(&now.method, llhttp_method_name((llhttp_method_t)parser->method));
  now.head_fields = now.fields.size;
  return 0;
}
static int on_body(llhttp_t* parser, const char* at, size_t size) {
  (void)parser;
  append(&now.body, at, size);
  return 0;
}
static int on_complete(llhttp_t* parser) {
  struct text out = {0};
  append_word(&out, first ? "{\"method\": " : ", {\"method\": ");
  append_hex(&out, &now.method);
  append_word(&out, ", \"target\": ");
  append_hex(&out, &now.target);
  append_word(&out, parser->http_minor == 0 ? ", \"minor\": 0" : ", \"minor\": 1");
  append_word(&out, ", \"body\": ");
  append_hex(&out, &now.body);
  print(&out, 0, out.size);
  free(out.bytes);
  printf(", \"fields\": [");
  print(&now.fields, 0, now.head_fields);
  printf("], \"trailers\": [");
  print(&now.fields, now.head_fields, now.fields.size);
  printf("]}");
  first = 0;
  now.begun = 0;
  return 0;
}

static void judge(const llhttp_settings_t* settings, const char* bytes, size_t size) {
  llhttp_t parser;
  llhttp_init(&parser, HTTP_REQUEST, settings);
  now.begun = 0;
  first = 1;
  printf("{\"requests\": [");
  llhttp_errno_t error = HPE_OK;
  for (const char* at = bytes;;) {
    error = llhttp_execute(&parser, at, (size_t)(bytes + size - at));
    if (error != HPE_PAUSED_UPGRADE || parser.method == HTTP_CONNECT) break;
    at = llhttp_get_error_pos(&parser); /* as in a server that does not know the protocol */
    llhttp_resume_after_upgrade(&parser);
  }
  const char* end = "rejected";
  if (error == HPE_OK) end = now.begun ? "more" : "done";
  if (error == HPE_CLOSED_CONNECTION) end = "closed";
  if (error == HPE_PAUSED_UPGRADE) end = "tunnel";
  printf("], \"end\": \"%s\", \"reason\": \"%s\", \"status\": 0}\n", end,
         error == HPE_OK ? "" : llhttp_errno_name(error) + strlen("HPE_"));
}

int main(void) {
  llhttp_settings_t settings;
  llhttp_settings_init(&settings);
  settings.on_message_begin = on_begin;
  settings.on_url = on_url;
  settings.on_header_field = on_field;
  settings.on_header_value = on_value;
  settings.on_header_value_complete = on_value_end;
  settings.on_headers_complete = on_head;
  settings.on_body = on_body;
  settings.on_message_complete = on_complete;
  unsigned char prefix[4];
  while (fread(prefix, 1, 4, stdin) == 4) {
    const size_t size = prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 24;
    char* bytes = malloc(size + 1);
    if (bytes == NULL || fread(bytes, 1, size, stdin) != size) return 1;
    judge(&settings, bytes, size);
    free(bytes);
  }
  return 0;
}
