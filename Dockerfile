# 问源 as `make run` starts it, for other machines too:
#   docker build -t wenyuan . && docker run --init -p 8501:8501 -v wenyuan:/data wenyuan
# compose.yaml adds SearXNG, Redis and PostgreSQL.
FROM python:3.11.14-slim-bookworm

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /app

# Chromium for the Google engine, and fonts for the Chinese pages it opens: from the least to the most often changed.
COPY packages.txt ./
RUN apt-get update \
    && xargs -a packages.txt apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/*

COPY requirements.txt constraints.txt requirements-law.txt ./
RUN pip install -r requirements.txt && pip install --no-deps --require-hashes -r requirements-law.txt

RUN useradd --system --uid 10001 --create-home wenyuan && install -d -o wenyuan -g wenyuan -m 700 /data
COPY .streamlit/config.toml .streamlit/
COPY docs/manual docs/manual
COPY deploy/searxng deploy/searxng
COPY asgi.py Home.py settings.yaml LICENSE NOTICE ./
COPY pages pages
COPY core core

USER 10001
ENV DATA_DIR=/data
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["streamlit", "run", "asgi.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
