package dev.idempotency.gateway.fingerprint;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Random;

/** Documents as shops send them: members in the order of a program, numbers of several kinds. */
final class Orders {

  private static final String[] NAMES = {
    "Ana Maria Souza", "Łukasz Żółw", "Zoë O'Brien", "山田太郎", "John Smith", "Jürgen Groß"
  };
  private static final String[] CITIES = {
    "São Paulo", "Kraków", "Berlin", "東京", "Portland", "Zürich"
  };
  private static final String[] GOODS = {
    "Espresso beans, dark roast, 1 kg",
    "Kettle \\\"Classic\\\" 1.7 l",
    "Caf\\u00e9 cr\\u00e8me cups (6)",
    "Descaler 250 ml",
    "Gr\u00fcner Tee \\u2013 Bio",
    "Filter paper size 4, 100 pieces"
  };

  private final Random random = new Random(1);
  private final StringBuilder text = new StringBuilder();

  private Orders() {}

  /** A document of about that many bytes, always the same one. */
  static byte[] ofSize(int size) {
    Orders orders = new Orders();
    if (size < 1000) {
      orders.payment();
    } else {
      orders.batch(size);
    }
    return orders.text.toString().getBytes(UTF_8);
  }

  private void payment() {
    text.append(
            "{\"order_id\":\"ord_7f3a9c21\",\"amount\":149.90,\"currency\":\"EUR\",\"capture\":true,")
        .append("\"customer\":{\"id\":88412,\"name\":\"Zo\u00eb O'Brien\"},")
        .append(
            "\"description\":\"Two bags \\\"dark\\\"\",\"metadata\":{\"cart\":\"c-10\",\"attempt\":1.0}}");
  }

  private void batch(int size) {
    text.append("{\"batch\":\"2026-11-30T08:15:00Z\",\"orders\":[");
    String comma = "";
    do {
      text.append(comma);
      order();
      comma = ",";
    } while (text.length() + 900 < size);
    text.append("],\"dry_run\":false}");
  }

  private void order() {
    text.append("{\"id\":").append(random.nextLong() >>> 1).append(",\"reference\":\"");
    hex(24);
    text.append("\",\"customer\":{\"name\":\"").append(one(NAMES)).append("\",\"email\":\"");
    hex(8);
    text.append("@example.com\",\"address\":{\"street\":\"Main Street ")
        .append(random.nextInt(200))
        .append("\",\"postal_code\":\"")
        .append(10_000 + random.nextInt(90_000))
        .append("\",\"city\":\"")
        .append(one(CITIES))
        .append("\",\"country\":\"BR\"},\"newsletter\":null},\"items\":[");
    int count = 1 + random.nextInt(5);
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ",");
      item();
    }
    text.append("],\"shipping\":{\"method\":\"express\",\"price\":")
        .append(random.nextInt(30))
        .append(".00,\"insured\":true},\"currency\":\"EUR\",\"exchange_rate\":1.")
        .append(random.nextInt(1_000_000))
        .append(",\"carbon\":")
        .append(1 + random.nextInt(9))
        .append(".5e-4,\"notes\":\"Leave at door.\\nRing twice!\"}");
  }

  private void item() {
    text.append("{\"sku\":\"SKU-")
        .append(random.nextInt(1_000_000))
        .append("\",\"name\":\"")
        .append(one(GOODS))
        .append("\",\"quantity\":")
        .append(1 + random.nextInt(20))
        .append(",\"unit_price\":")
        .append(random.nextInt(500))
        .append('.')
        .append(10 + random.nextInt(90))
        .append(",\"tax_rate\":0.07,\"weight\":")
        .append(random.nextInt(9))
        .append(".25,\"gift\":false,\"attributes\":{\"color\":\"black\",\"size\":\"M\"}}");
  }

  private String one(String[] choices) {
    return choices[random.nextInt(choices.length)];
  }

  private void hex(int digits) {
    for (int i = 0; i < digits; i++) {
      text.append(Character.forDigit(random.nextInt(16), 16));
    }
  }
}
