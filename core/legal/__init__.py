"""Laws, regulations and court cases: imported, looked up, searched, and cited statutes checked. No page, no model."""
